import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { elapsedShare, forecastFrom, perDay, reachedAt, usedShare } from './pace.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const START_MS = Date.UTC(2026, 0, 31, 10, 20, 30);

const counts = fc.oneof(fc.nat(1_000), fc.nat(Number.MAX_SAFE_INTEGER));

const permille = (max: number) => fc.integer({ min: 0, max: max * 1_000 }).map((value) => value / 1_000);

/** A moment of a period of two seconds to a year, or after it, and what is used of a limit by then. */
const moments = fc
  .record({
    lengthSec: fc.integer({ min: 2, max: 366 * 86_400 }),
    elapsedShare: permille(1.2),
    limit: counts,
    used: fc.oneof(permille(1.2), fc.constant(1)),
    recentShare: permille(1),
    sinceShare: permille(1),
  })
  .map(({ lengthSec, elapsedShare: elapsed, limit, used: usedOfLimit, recentShare, sinceShare }) => {
    const passedMs = Math.floor(lengthSec * 1_000 * elapsed);
    const used = Math.min(Math.floor(limit * usedOfLimit), Number.MAX_SAFE_INTEGER);
    const now = new Date(START_MS + passedMs);
    return {
      bounds: { started_at: new Date(START_MS), end: new Date(START_MS + lengthSec * 1_000) },
      now,
      total: { limit, used },
      pace: {
        used: Math.floor(used * recentShare),
        since: new Date(START_MS + Math.floor(passedMs * sinceShare)),
      },
    };
  });

/** How long a pace is taken over, as whole milliseconds that never round. */
const overMs = (since: Date, now: Date) => BigInt(Math.max(now.getTime() - since.getTime(), DAY_MS));

describe('when a limit is reached', () => {
  test('at a pace: by that second it is used up, and in the second before it is not (in whole numbers)', () => {
    fc.assert(
      fc.property(moments, ({ bounds, now, total, pace }) => {
        const reached = reachedAt(total, pace, bounds, now);
        if (reached === null) return;
        expect(reached.getTime() % 1_000).toBe(0);
        expect(reached < bounds.end && reached >= now).toBe(true);
        const left = BigInt(total.limit - total.used) * overMs(pace.since, now);
        const usedBy = (ms: number) => BigInt(ms - now.getTime()) * BigInt(pace.used);
        // A float of 2^53 milliseconds times a limit has some slack: a millisecond is allowed either way.
        expect(usedBy(reached.getTime() + 1) >= left).toBe(true);
        expect(usedBy(reached.getTime() - 1_001) < left).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('null is said where it is reached already, nothing is used, or the period ends before', () => {
    fc.assert(
      fc.property(moments, ({ bounds, now, total, pace }) => {
        if (reachedAt(total, pace, bounds, now) !== null) return;
        const leftMs = BigInt(bounds.end.getTime() - now.getTime());
        const left = BigInt(total.limit - total.used) * overMs(pace.since, now);
        const from = forecastFrom(bounds);
        const isTooEarly = from === null || now < from;
        const isNone = isTooEarly || total.used >= total.limit || pace.used === 0;
        // In the period's last second it is still null: the next whole second is the end.
        expect(isNone || (leftMs - 1_001n) * BigInt(pace.used) < left).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('the mean of the period reaches it within the period exactly where more is used than has elapsed', () => {
    fc.assert(
      fc.property(moments, ({ bounds, now, total }) => {
        const elapsedMs = now.getTime() - bounds.started_at.getTime();
        const lengthMs = bounds.end.getTime() - bounds.started_at.getTime();
        const from = forecastFrom(bounds);
        fc.pre(from !== null && now >= from && elapsedMs < lengthMs && total.used < total.limit);
        const reached = reachedAt(total, { used: total.used, since: bounds.started_at }, bounds, now);
        const usedOverElapsed =
          BigInt(total.used) * BigInt(lengthMs) - BigInt(total.limit) * BigInt(elapsedMs);
        // Two seconds' worth of the limit are left to rounding.
        const slack = BigInt(total.used) * 2_000n;
        if (usedOverElapsed > slack) expect(reached).not.toBeNull();
        if (usedOverElapsed < -slack) expect(reached).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  test('more usage never puts it off, and a larger limit never brings it nearer', () => {
    fc.assert(
      fc.property(moments, fc.nat(1_000_000), ({ bounds, now, total, pace }, more) => {
        const at = (limit: number, used: number) =>
          reachedAt({ limit, used: total.used }, { ...pace, used }, bounds, now)?.getTime() ?? Infinity;
        fc.pre(total.used < total.limit && total.limit + more <= Number.MAX_SAFE_INTEGER);
        expect(at(total.limit, pace.used + more)).toBeLessThanOrEqual(at(total.limit, pace.used));
        expect(at(total.limit + more, pace.used)).toBeGreaterThanOrEqual(at(total.limit, pace.used));
      }),
    );
  });

  test('the first call of a period does not announce its end', () => {
    const bounds = { started_at: new Date(START_MS), end: new Date(START_MS + 24 * HOUR_MS) };
    const now = new Date(START_MS + 1_000);
    const pace = { used: 1, since: bounds.started_at };
    expect(reachedAt({ limit: 100, used: 1 }, pace, bounds, now)).toBeNull();
    expect(perDay(pace, now)).toBe(1);
    expect(reachedAt({ limit: 2, used: 1 }, pace, bounds, now)).toBeNull();
  });
});

describe('a forecast', () => {
  test.each([
    [31 * 24, 24],
    [14 * 24, 24],
    [365 * 24, 262.8],
    [25, 24],
    [24, null],
    [1, null],
  ])('of a period of %d hours begins after %d', (lengthHours, hours) => {
    const end = new Date(START_MS + lengthHours * HOUR_MS);
    const from = forecastFrom({ started_at: new Date(START_MS), end });
    expect(from === null ? null : (from.getTime() - START_MS) / HOUR_MS).toBe(hours);
  });

  test('a figure per day is never above what was used in all', () => {
    fc.assert(
      fc.property(moments, ({ now, total, pace }) => {
        expect(perDay(pace, now)).toBeLessThanOrEqual(pace.used);
        expect(perDay({ ...pace, used: total.used }, now)).toBeLessThanOrEqual(total.used);
      }),
    );
  });

  test('begins anew when the plan changes, however much the plan before was used', () => {
    const changes = fc.array(fc.integer({ min: 2, max: 60 * 86_400 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(changes, counts, permille(1), (lengthsSec, used, share) => {
        let startMs = START_MS;
        for (const lengthSec of lengthsSec) {
          const bounds = { started_at: new Date(startMs), end: new Date(startMs + lengthSec * 1_000) };
          const now = new Date(startMs + Math.floor(lengthSec * share) * 1_000);
          const pace = { used, since: bounds.started_at };
          const reached = reachedAt({ limit: used + 1, used }, pace, bounds, now);
          const elapsedMs = now.getTime() - startMs;
          if (reached !== null) {
            expect(elapsedMs).toBeGreaterThanOrEqual(DAY_MS);
            expect(elapsedMs / (lengthSec * 1_000)).toBeGreaterThanOrEqual(0.03);
          }
          startMs = bounds.end.getTime();
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the shares', () => {
  test('of what is used: 1 or more exactly where the limit is reached', () => {
    fc.assert(
      fc.property(counts, counts, (limit, used) => {
        const share = usedShare({ limit, used });
        expect(share >= 1).toBe(used >= limit);
        expect(share).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(usedShare({ limit: 3, used: 2 })).toBe(0.6666);
    expect(usedShare({ limit: 0, used: 0 })).toBe(1);
  });

  test('of the time: from 0 to 1, and 1 only when the period is over', () => {
    fc.assert(
      fc.property(moments, ({ bounds, now }) => {
        const share = elapsedShare(bounds, now);
        expect(share >= 0 && share <= 1).toBe(true);
        expect(share === 1).toBe(now >= bounds.end);
      }),
    );
  });
});
