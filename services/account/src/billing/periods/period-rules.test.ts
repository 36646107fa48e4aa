import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { billingStatus, nextChange, pickPeriod } from './period-rules.ts';
import type { StatusPeriod } from './period-rules.ts';

/** 2026-07-01T00:00:00Z to 2026-07-23T23:59:59Z inclusive, with three days of grace. */
const JULY: StatusPeriod = {
  started_at: new Date('2026-07-01T00:00:00Z'),
  ended_at: new Date('2026-07-23T23:59:59Z'),
  grace_sec: 259_200,
  blocked: false,
};

const at = (instant: string) => new Date(instant);

/** Periods that don't overlap, in any order, on a small axis of seconds so that boundaries are often met. */
const periods = fc
  .array(
    fc.record({
      gapSec: fc.nat(4),
      lengthSec: fc.integer({ min: 1, max: 5 }),
      grace_sec: fc.nat(6),
      blocked: fc.boolean(),
    }),
    { maxLength: 5 },
  )
  .chain((shapes) => {
    let clockSec = 0;
    const made = shapes.map(({ gapSec, lengthSec, grace_sec, blocked }) => {
      const startSec = clockSec + gapSec;
      const endSec = startSec + lengthSec;
      clockSec = endSec + 1;
      return {
        started_at: new Date(startSec * 1_000),
        ended_at: new Date(endSec * 1_000),
        grace_sec,
        blocked,
      };
    });
    return fc.shuffledSubarray(made, { minLength: made.length });
  });

/** Instants at and just beside whole seconds. */
const instant = fc
  .tuple(fc.nat(50), fc.constantFrom(-1, 0, 1, 500, 999))
  .map(([second, offsetMs]) => new Date(second * 1_000 + offsetMs));

/** Second formulation: seconds are counted one by one, and a table is read from its first true line. */
function secondStatus(period: StatusPeriod, accountBlocked: boolean, now: Date): string {
  const second = Math.floor(now.getTime() / 1_000);
  const lastSecond = period.ended_at.getTime() / 1_000;
  const table: [boolean, string][] = [
    [accountBlocked, 'blocked'],
    [period.blocked, 'blocked'],
    [second <= lastSecond, 'active'],
    [second <= lastSecond + period.grace_sec, 'grace'],
    [true, 'expired'],
  ];
  return table.find(([applies]) => applies)?.[1] ?? '';
}

/** Second formulation: walks the periods in order of their starts and keeps the last one that has begun. */
function secondPick(all: readonly StatusPeriod[], now: Date): StatusPeriod | undefined {
  let picked: StatusPeriod | undefined;
  for (const period of [...all].sort((one, other) => one.started_at.getTime() - other.started_at.getTime())) {
    if (period.started_at.getTime() > now.getTime()) break;
    picked = period;
  }
  return picked;
}

describe('status of a billing period', () => {
  test.each([
    ['2026-07-01T00:00:00.000Z', 'active'],
    ['2026-07-23T23:59:59.000Z', 'active'],
    ['2026-07-23T23:59:59.999Z', 'active'],
    ['2026-07-24T00:00:00.000Z', 'grace'],
    ['2026-07-26T23:59:59.999Z', 'grace'],
    ['2026-07-27T00:00:00.000Z', 'expired'],
  ])('at %s the period is %s: the last second and the grace window count to their ends', (now, status) => {
    expect(billingStatus(JULY, false, at(now))).toBe(status);
  });

  test('a period that another one has followed has no grace window', () => {
    const followed = { ...JULY, followed: true };
    expect(billingStatus(followed, false, at('2026-07-24T00:00:00Z'))).toBe('expired');
    expect(billingStatus({ ...followed, blocked: true }, false, at('2026-07-24T00:00:00Z'))).toBe('blocked');
  });

  test('a plan without a grace window goes from active to expired', () => {
    expect(billingStatus({ ...JULY, grace_sec: 0 }, false, at('2026-07-24T00:00:00Z'))).toBe('expired');
  });

  test.each([
    [true, false],
    [false, true],
  ])('a block goes before every other state (period %s, account %s)', (blocked, accountBlocked) => {
    for (const now of ['2026-07-10T00:00:00Z', '2026-07-25T00:00:00Z', '2027-01-01T00:00:00Z']) {
      expect(billingStatus({ ...JULY, blocked }, accountBlocked, at(now))).toBe('blocked');
    }
  });

  test('it is what the table of the source says, for every period, block and clock', () => {
    fc.assert(
      fc.property(periods, fc.boolean(), instant, (all, accountBlocked, now) => {
        for (const period of all.filter(({ started_at }) => started_at <= now)) {
          expect(billingStatus(period, accountBlocked, now)).toBe(secondStatus(period, accountBlocked, now));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the period that an account is in', () => {
  test('is none before the first has started', () => {
    expect(pickPeriod([JULY], at('2026-06-30T23:59:59.999Z'))).toBeUndefined();
    expect(pickPeriod<StatusPeriod>([], at('2026-07-01T00:00:00Z'))).toBeUndefined();
  });

  test('is the one that started last, when none is active, and not one that lies ahead', () => {
    const may = { ...JULY, started_at: at('2026-05-01T00:00:00Z'), ended_at: at('2026-05-31T23:59:59Z') };
    const ahead = { ...JULY, started_at: at('2027-01-01T00:00:00Z'), ended_at: at('2027-01-31T23:59:59Z') };
    expect(pickPeriod([ahead, may, JULY], at('2026-09-01T00:00:00Z'))).toBe(JULY);
    expect(pickPeriod([JULY, ahead, may], at('2026-09-01T00:00:00Z'))).toBe(JULY);
  });

  test('is the one that covers now or the last to start, for all periods that do not overlap', () => {
    fc.assert(
      fc.property(periods, instant, (all, now) => {
        expect(pickPeriod(all, now)).toBe(secondPick(all, now));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the next change by time alone', () => {
  const june = { ...JULY, started_at: at('2026-06-01T00:00:00Z'), ended_at: at('2026-06-30T23:59:59Z') };

  test.each([
    ['the end of the period', '2026-07-10T00:00:00Z', '2026-07-24T00:00:00.000Z'],
    ['the end of the grace window', '2026-07-24T00:00:00Z', '2026-07-27T00:00:00.000Z'],
  ])('is %s', (_name, now, expected) => {
    expect(nextChange(JULY, [JULY], false, at(now))?.toISOString()).toBe(expected);
  });

  test('is the start of the next period where that comes first', () => {
    const next = { ...JULY, started_at: at('2026-07-25T00:00:00Z'), ended_at: at('2026-08-24T23:59:59Z') };
    const now = at('2026-07-24T12:00:00Z');
    expect(nextChange(JULY, [JULY, next], false, now)).toEqual(next.started_at);
    expect(nextChange(june, [june, JULY], false, at('2026-06-30T12:00:00Z'))).toEqual(JULY.started_at);
  });

  test('is unknown once the grace window has passed, and while only a block could be lifted', () => {
    expect(nextChange(JULY, [JULY], false, at('2026-07-27T00:00:00Z'))).toBeNull();
    expect(nextChange(JULY, [JULY], true, at('2026-07-10T00:00:00Z'))).toBeNull();
    expect(nextChange(undefined, [], false, at('2026-07-10T00:00:00Z'))).toBeNull();
  });

  test('until then nothing changes, and at that instant something does', () => {
    const answer = (all: readonly StatusPeriod[], accountBlocked: boolean, now: Date) => {
      const period = pickPeriod(all, now);
      const status = period === undefined ? 'none' : billingStatus(period, accountBlocked, now);
      return [period, status];
    };
    fc.assert(
      fc.property(periods, fc.boolean(), instant, (all, accountBlocked, now) => {
        const next = nextChange(pickPeriod(all, now), all, accountBlocked, now);
        const before = answer(all, accountBlocked, now);
        const endMs = next?.getTime() ?? 60_000;
        for (let ms = now.getTime(); ms < endMs; ms += 250) {
          expect(answer(all, accountBlocked, new Date(ms))).toEqual(before);
        }
        expect(answer(all, accountBlocked, new Date(endMs - 1))).toEqual(before);
        if (next !== null) expect(answer(all, accountBlocked, next)).not.toEqual(before);
      }),
      { numRuns: 300 },
    );
  });
});
