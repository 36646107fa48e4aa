import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Limits } from '@tollgate/contracts/entitlement';
import { Problem } from '@tollgate/http/problem';
import fc from 'fast-check';
import {
  FIRST_MS,
  INTERVAL_MS,
  UNUSED,
  flush,
  openSubscriptions,
  payerOf,
} from '../../test/suite/open-subscriptions.ts';
import type { Recorded } from '../../test/suite/open-subscriptions.ts';
import { newSubscription } from './open-subscriptions.ts';
import type { Subscription } from './open-subscriptions.ts';
import type { LiveUsage } from '../ledger/record-script.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

type Opened = ReturnType<typeof openSubscriptions>;

const total = (recorded: readonly Recorded[], field: 'points' | 'requests' | 'time_ms' | 'traffic_bytes') =>
  recorded.reduce((sum, usage) => sum + usage[field], 0);

describe('what is recorded', () => {
  type Action = { does: 'pass' | 'traffic' | 'points' | 'acknowledge' | 'start' | 'end'; value: number };
  const actions = fc.array(
    fc.record<Action>({
      does: fc.constantFrom('pass', 'traffic', 'points', 'acknowledge', 'start', 'end'),
      value: fc.integer({ min: 1, max: 20_000 }),
    }),
    { maxLength: 40 },
  );

  test('adds up to each request, millisecond, started minute, point and byte, one settlement at a time', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (all) => {
        const opened = openSubscriptions({}, 3);
        const { subscriptions, recorded, unacknowledged } = opened;
        const running: { subscription: Subscription; beganMs: number }[] = [];
        const expected = { requests: 0, timeMs: 0, points: 0, bytes: 0 };
        const end = () => {
          const ended = running.shift();
          if (ended === undefined) return;
          const openMs = performance.now() - ended.beganMs;
          expected.timeMs += openMs;
          expected.points += 3 * (Math.floor(openMs / 60_000) + 1);
          subscriptions.end([ended.subscription]);
        };
        for (const { does, value } of all) {
          if (does === 'pass') opened.pass(value);
          if (does === 'acknowledge') await opened.acknowledge();
          if (does === 'end') end();
          if (does === 'start') {
            running.push({ subscription: await opened.start(), beganMs: performance.now() });
            expected.requests += 1;
          }
          if (does === 'traffic') {
            subscriptions.countTraffic(null, value);
            expected.bytes += value;
          }
          if (does === 'points') {
            subscriptions.countPoints(null, value);
            expected.points += value;
          }
          expect(unacknowledged.length).toBeLessThanOrEqual(1);
        }
        while (running.length > 0) end();
        subscriptions.settleFinally();
        expect({
          requests: total(recorded, 'requests'),
          timeMs: total(recorded, 'time_ms'),
          points: total(recorded, 'points'),
          bytes: total(recorded, 'traffic_bytes'),
        }).toEqual(expected);
      }),
    );
  });

  test('comes after a second, and then at the interval', async () => {
    const opened = openSubscriptions();
    await opened.start();
    const atMs: number[] = [];
    for (let passedMs = 250; passedMs <= 12_000; passedMs += 250) {
      const before = opened.recorded.length;
      opened.pass(250);
      if (opened.recorded.length > before) atMs.push(passedMs);
      await opened.acknowledge();
    }
    expect(atMs).toEqual([FIRST_MS, FIRST_MS + INTERVAL_MS, FIRST_MS + 2 * INTERVAL_MS]);
  });

  test('is nothing for a subscription that is waived before its first settlement, and what was settled after it', async () => {
    const opened = openSubscriptions({}, 3);
    const early = await opened.start();
    opened.subscriptions.waive(early);
    opened.subscriptions.end([early]);
    expect(opened.recorded).toEqual([]);
    const later = await opened.start();
    opened.pass(FIRST_MS);
    await opened.acknowledge();
    opened.pass(500);
    opened.subscriptions.waive(later);
    opened.subscriptions.end([later]);
    expect(total(opened.recorded, 'time_ms')).toBe(FIRST_MS + 500);
    expect(opened.slots.every(({ released }) => released)).toBe(true);
  });

  test('releases the slot only after it, if points are reserved with that', async () => {
    const opened = openSubscriptions({ points_limit: 10 }, 3);
    opened.subscriptions.refreshPayer({ ...payerOf(1, { points_limit: 10 }), reservesPoints: true });
    const subscription = await opened.start();
    opened.subscriptions.end([subscription]);
    expect([total(opened.recorded, 'points'), opened.slots]).toMatchObject([3, [{ released: false }]]);
    await opened.acknowledge();
    expect(opened.slots).toMatchObject([{ released: true }]);
  });

  test('releases the slot in the same step where the end waits for it', async () => {
    const opened = openSubscriptions();
    const subscription = await opened.start();
    let done = false;
    void opened.subscriptions.endRecorded(subscription).then(() => (done = true));
    await flush();
    expect(opened.recorded).toMatchObject([{ requests: 1, lease: { key: 'payer 1' } }]);
    expect(done).toBe(false);
    await opened.acknowledge();
    expect(done).toBe(true);
  });
});

describe('after a change of payer or period', () => {
  test.each([
    ['payer', payerOf(2)],
    ['period', payerOf(1, {}, 11)],
  ])('usage until then goes to the former %s, later usage to the new one', async (_, next) => {
    const opened = openSubscriptions();
    await opened.start();
    opened.subscriptions.countTraffic(null, 5);
    jest.advanceTimersByTime(400);
    opened.subscriptions.refreshPayer(next);
    await opened.acknowledge();
    opened.subscriptions.countTraffic(null, 6);
    opened.pass(300);
    expect(opened.recorded).toMatchObject([
      { payer_id: 1, period_id: 10, requests: 1, time_ms: 400, traffic_bytes: 5 },
      { payer_id: next.payerId, period_id: next.periodId, requests: 0, time_ms: 300, traffic_bytes: 6 },
    ]);
  });

  test('slots are taken from the new payer, also those that were being asked for', async () => {
    const opened = openSubscriptions();
    await opened.start();
    const subscription = newSubscription(null);
    const taken = opened.subscriptions.takeSlot(subscription);
    opened.subscriptions.refreshPayer(payerOf(2));
    expect(await taken).toBe(true);
    await flush();
    const held = opened.slots.filter(({ released }) => !released);
    expect(held.map(({ payerId }) => payerId)).toEqual([2, 2]);
  });

  test('a subscription that gets no slot is lost, and one that has ended is not', async () => {
    const opened = openSubscriptions();
    const [, ended] = [await opened.start(), await opened.start()];
    const refusal = new Problem('subscription_limit_exceeded');
    opened.refuseWith(refusal);
    opened.subscriptions.refreshPayer(payerOf(1, { subscription_limit: 0 }));
    opened.subscriptions.end([ended]);
    await flush();
    expect(opened.lost).toEqual([refusal]);
    expect(opened.slots.every(({ released }) => released)).toBe(true);
  });

  test('of which a limit alone is new, slots stay, and the limit holds from the next look on', async () => {
    const opened = openSubscriptions({ subscription_limit: 3 });
    await opened.start();
    opened.subscriptions.refreshPayer(payerOf(1, { subscription_limit: 3, traffic_bytes_limit: 9 }));
    opened.pass(1);
    await opened.acknowledge({ ...UNUSED, traffic_bytes: 9 });
    expect(opened.slots).toEqual([{ payerId: 1, released: false }]);
    expect(opened.exhausted).toMatchObject([{ code: 'traffic_limit_exceeded' }]);
  });

  test('that is none, nothing is settled before its time', async () => {
    const opened = openSubscriptions();
    await opened.start();
    opened.subscriptions.refreshPayer(payerOf(1));
    opened.pass(FIRST_MS - 1);
    expect(opened.recorded).toEqual([]);
  });

  test('the new limits are checked as soon as there is usage of the new period', async () => {
    const opened = openSubscriptions();
    await opened.start();
    opened.pass(FIRST_MS);
    await opened.acknowledge();
    opened.subscriptions.refreshPayer(payerOf(2, { time_sec_limit: 0 }));
    // No time has passed since the settlement of the former period's usage.
    opened.pass(0);
    opened.pass(1);
    await opened.acknowledge();
    expect(opened.exhausted).toMatchObject([{ code: 'time_limit_exceeded' }]);
  });
});

describe('limits of the period', () => {
  const settled = async (opened: Opened, live: LiveUsage | null) => {
    await opened.start();
    opened.pass(FIRST_MS);
    await opened.acknowledge(live);
  };

  test.each<[string, Partial<Limits>, Partial<LiveUsage>]>([
    ['points_limit_exceeded', { points_limit: 5 }, { points: 5 }],
    ['traffic_limit_exceeded', { traffic_bytes_limit: 5 }, { traffic_bytes: 5 }],
    ['time_limit_exceeded', { time_sec_limit: 5 }, { time_ms: 5_000 }],
  ])('%s ends the subscriptions', async (code, limits, live) => {
    const opened = openSubscriptions(limits, 1);
    await settled(opened, { ...UNUSED, ...live });
    expect(opened.exhausted).toMatchObject([{ code }]);
  });

  test('points end only subscriptions that cost points', async () => {
    const opened = openSubscriptions({ points_limit: 5 });
    await settled(opened, { ...UNUSED, points: 5 });
    expect(opened.exhausted).toEqual([]);
    opened.subscriptions.usesPoints();
    opened.pass(FIRST_MS);
    await opened.acknowledge({ ...UNUSED, points: 5 });
    expect(opened.exhausted).toMatchObject([{ code: 'points_limit_exceeded' }]);
  });

  test('stated points that use up the rest are settled at once', async () => {
    const opened = openSubscriptions({ points_limit: 10 });
    await settled(opened, { ...UNUSED, points: 4 });
    opened.subscriptions.countPoints(null, 5);
    expect(opened.recorded).toHaveLength(1);
    opened.subscriptions.countPoints(null, 1);
    expect(opened.recorded).toMatchObject([{}, { points: 6 }]);
  });

  describe('points of a payer with credits', () => {
    test('end the subscriptions when none are left, whatever the limit says', async () => {
      const opened = openSubscriptions({ points_limit: 1_000 }, 1, { left: 0 });
      await settled(opened, { ...UNUSED, points: 5 });
      expect(opened.exhausted).toMatchObject([{ code: 'points_limit_exceeded' }]);
    });

    test('end nothing while some are left, or while that is not known', async () => {
      const credits: { left: number | null } = { left: 1 };
      const opened = openSubscriptions({ points_limit: 5 }, 1, credits);
      await settled(opened, { ...UNUSED, points: 5 });
      credits.left = null;
      opened.pass(INTERVAL_MS);
      await opened.acknowledge({ ...UNUSED, points: 6 });
      expect([opened.recorded.length, opened.exhausted]).toEqual([2, []]);
      credits.left = 0;
      opened.pass(INTERVAL_MS);
      await opened.acknowledge({ ...UNUSED, points: 7 });
      expect(opened.exhausted).toMatchObject([{ code: 'points_limit_exceeded' }]);
    });

    test('that a message states and that use up the rest are settled at once', async () => {
      const opened = openSubscriptions({}, 0, { left: 6 });
      await settled(opened, UNUSED);
      opened.subscriptions.countPoints(null, 5);
      expect(opened.recorded).toHaveLength(1);
      opened.subscriptions.countPoints(null, 1);
      expect(opened.recorded).toMatchObject([{}, { points: 6 }]);
    });
  });

  describe('points of a budget', () => {
    test("end the subscriptions that cost points when none are left, after the plan's", async () => {
      const opened = openSubscriptions({}, 1, undefined, { left: 0 });
      await settled(opened, { ...UNUSED, points: 5 });
      expect(opened.exhausted).toMatchObject([{ code: 'budget_exceeded' }]);
      const free = openSubscriptions({}, 0, undefined, { left: 0 });
      await settled(free, UNUSED);
      expect(free.exhausted).toEqual([]);
      const both = openSubscriptions({ points_limit: 5 }, 1, undefined, { left: 0 });
      await settled(both, { ...UNUSED, points: 5 });
      expect(both.exhausted).toMatchObject([{ code: 'points_limit_exceeded' }]);
    });

    test('that a message states and that use up the rest are settled at once', async () => {
      const opened = openSubscriptions({ points_limit: 1_000 }, 0, undefined, { left: 6 });
      await settled(opened, UNUSED);
      opened.subscriptions.countPoints(null, 5);
      expect(opened.recorded).toHaveLength(1);
      opened.subscriptions.countPoints(null, 1);
      expect(opened.recorded).toMatchObject([{}, { points: 6 }]);
    });
  });

  test('the last seconds are settled when all subscriptions together have used them up', async () => {
    const opened = openSubscriptions({ time_sec_limit: 10 });
    await opened.start();
    await settled(opened, { ...UNUSED, time_ms: 8_000 });
    opened.pass(999);
    expect(opened.recorded).toHaveLength(1);
    opened.pass(1);
    expect(opened.recorded).toHaveLength(2);
  });

  test('live counters that Redis has lost are built again, and end nothing', async () => {
    const opened = openSubscriptions({ points_limit: 0 }, 1);
    await settled(opened, null);
    expect([opened.primed, opened.exhausted]).toEqual([[10], []]);
  });

  test('are not those of a former period', async () => {
    const opened = openSubscriptions({ traffic_bytes_limit: 5 });
    await opened.start();
    opened.subscriptions.refreshPayer(payerOf(1, { traffic_bytes_limit: 5 }, 11));
    await opened.acknowledge({ ...UNUSED, traffic_bytes: 5 });
    expect(opened.exhausted).toEqual([]);
  });
});
