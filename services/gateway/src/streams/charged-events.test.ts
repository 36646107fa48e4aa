import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { payerWith, startSimulatedGateway } from '../../test/suite/load/simulated-gateway.ts';
import type { SimulatedGateway } from '../../test/suite/load/simulated-gateway.ts';
import { startVirtualClock } from '../../test/suite/load/virtual-clock.ts';
import type { VirtualClock } from '../../test/suite/load/virtual-clock.ts';
import { token } from '../../test/suite/open-subscriptions.ts';
import { LEASE_MS } from '../ledger/admit-script.ts';
import type { PayerEntitlement } from '../ledger/principal.ts';
import { createReservePoints } from '../pipeline/admit/reserve-points.ts';
import { createChargeEvent } from './charged-events.ts';
import { OpenSubscriptions, newSubscription } from './open-subscriptions.ts';
import type { Subscription } from './open-subscriptions.ts';

let server: OwnRedis;
let redis: RedisConnection;
let clock: VirtualClock;
let nextPayer = 1;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  clock = await startVirtualClock(redis);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** What one event of each subscription costs at most by its estimate. */
const EVENT_POINTS = 4;

type Step =
  | { do: 'subscribe'; gateway: number }
  | { do: 'event'; gateway: number; points: number }
  | { do: 'events'; points: number[] }
  | { do: 'call'; gateway: number; points: number }
  | { do: 'leave'; gateway: number }
  | { do: 'kill'; gateway: number }
  | { do: 'expire' };

const gateway = fc.nat(4);
/** Some cost more than the estimate. */
const points = fc.integer({ min: 1, max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('subscribe' as const), gateway }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('event' as const), gateway, points }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('events' as const),
      points: fc.array(points, { minLength: 2, maxLength: 12 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('call' as const), gateway, points }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), gateway }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), gateway }) },
  { weight: 1, arbitrary: fc.constant({ do: 'expire' as const }) },
);

/** A gateway with the subscriptions of one socket. */
type Door = {
  gateway: SimulatedGateway;
  subscriptions: OpenSubscriptions<Subscription>;
  open: Subscription[];
  /** Whether the event was passed on. */
  event: (subscription: Subscription, points: number) => Promise<boolean>;
};

/** The limit beside what callers were given: events that were passed on, and answers. */
async function startModel(gateways: number, limit: number) {
  const payerId = (nextPayer += 1);
  const payer: PayerEntitlement = { ...payerWith(payerId, { points_limit: limit }), reservesPoints: true };

  async function open(): Promise<Door> {
    const simulated = await startSimulatedGateway({
      redisUrl: server.url,
      clock,
      snapshot: () => ({ payer_id: payerId, points: 0, stream_position: '0-0' }),
    });
    const { admit, record } = simulated;
    const lost = (subscription: Subscription) => {
      const index = door.open.indexOf(subscription);
      if (index >= 0) door.open.splice(index, 1);
      subscriptions.end([subscription]);
    };
    const subscriptions = new OpenSubscriptions<Subscription>({
      admit,
      record,
      primePayer: () => Promise.resolve(),
      readPointsLeft: () => Promise.resolve(null),
      principal: { token, payer },
      settleIntervalMs: 1_000_000,
      pointsPerMinute: 0,
      onExhausted: () => undefined,
      onSlotLost: lost,
    });
    const charge = createChargeEvent<Subscription>({
      principal: () => subscriptions.principal,
      reserve: createReservePoints(admit),
      record,
      settlementTimeout: { timeoutMs: 30_000, unacknowledged: 'refuse' },
      pointsPerMinute: 0,
      onUncovered: lost,
    });
    const door: Door = {
      gateway: simulated,
      subscriptions,
      open: [],
      event: async (subscription, cost) => {
        if (subscription.ended) return false;
        const refusal = await charge(subscription, { points: cost, trafficBytes: 1 });
        if (refusal === null) return !subscription.ended;
        lost(subscription);
        return false;
      },
    };
    return door;
  }

  const doors = await Promise.all(Array.from({ length: gateways }, open));
  const doorAt = (index: number) => doors[index % gateways] as Door;
  let given = 0;
  let dead = 0;
  const held = () => doors.reduce((sum, { open: all }) => sum + all.length * EVENT_POINTS, dead);

  async function settled(): Promise<void> {
    // Releases, and the reservations of next events, have arrived.
    for (const { gateway: one } of doors) for (let turn = 0; turn < 3; turn += 1) await one.endInterval();
  }

  const perform: { [Do in Step['do']]: (one: Extract<Step, { do: Do }>) => Promise<void> } = {
    subscribe: async ({ gateway: at }) => {
      const door = doorAt(at);
      const fits = given + held() + EVENT_POINTS <= limit;
      const subscription = newSubscription(null);
      const taken = door.subscriptions.takeSlot(subscription, EVENT_POINTS).catch(() => false);
      expect(await taken).toBe(fits);
      if (fits) door.open.push(subscription);
    },
    event: async ({ gateway: at, points: cost }) => {
      const door = doorAt(at);
      const [subscription] = door.open;
      if (subscription === undefined) return;
      const others = given + held() - EVENT_POINTS;
      const fits = others + Math.max(cost, EVENT_POINTS) <= limit;
      expect(await door.event(subscription, cost)).toBe(fits);
      if (fits) given += cost;
      await settled();
      // It goes on only while its next event is covered.
      expect(door.open.includes(subscription)).toBe(fits && others + cost + EVENT_POINTS <= limit);
    },
    events: async ({ points: costs }) => {
      const all = doors.flatMap((door) => door.open.map((subscription) => ({ door, subscription })));
      if (all.length === 0) return;
      const passed = costs.map(async (cost, index) => {
        const { door, subscription } = all[index % all.length] as (typeof all)[number];
        return (await door.event(subscription, cost)) ? cost : 0;
      });
      for (const cost of await Promise.all(passed)) given += cost;
      await settled();
    },
    call: async ({ gateway: at, points: cost }) => {
      const door = doorAt(at);
      const lease = await door.gateway.call(payer, 1, cost);
      expect(typeof lease !== 'string').toBe(given + held() + cost <= limit);
      if (typeof lease === 'string') return;
      await door.gateway.settle(payer, lease, cost);
      given += cost;
    },
    leave: async ({ gateway: at }) => {
      const door = doorAt(at);
      const subscription = door.open.shift();
      if (subscription !== undefined) door.subscriptions.end([subscription]);
      await settled();
    },
    kill: async ({ gateway: at }) => {
      const door = doorAt(at);
      door.gateway.kill();
      dead += door.open.length * EVENT_POINTS;
      Object.assign(door, await open());
    },
    expire: async () => {
      for (const door of doors) door.subscriptions.end(door.open.splice(0));
      await settled();
      await clock.pass(LEASE_MS + 1);
      dead = 0;
    },
  };
  return {
    perform: async (one: Step) => {
      await perform[one.do](one as never);
      expect(given).toBeLessThanOrEqual(limit);
    },
    given: () => given,
    close: () => Promise.all(doors.map((door) => door.gateway.close())),
  };
}

test.each([2, 5])(
  'over %i gateways, events are passed on exactly while what is left covers them, and nothing is lost with a gateway',
  async (gateways) => {
    let most = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 20, max: 90 }),
        fc.array(step, { minLength: 10, maxLength: 40 }),
        async (limit, steps) => {
          const model = await startModel(gateways, limit);
          try {
            for (const one of steps) await model.perform(one);
          } finally {
            await model.close();
          }
          most = Math.max(most, model.given() / limit);
        },
      ),
      { numRuns: 30 },
    );
    // Otherwise the limit was never near.
    expect(most).toBeGreaterThan(0.8);
  },
  120_000,
);
