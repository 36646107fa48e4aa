import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { passedShares } from './rules.ts';

const points = fc.option(fc.maxSafeNat(), { nil: null });
const shares = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 10 });

test('a threshold is passed from the exact point on, in each window alone, and never without a limit', () => {
  fc.assert(
    fc.property(
      points,
      points,
      fc.maxSafeNat(),
      fc.maxSafeNat(),
      shares,
      (period, day, used, today, wanted) => {
        const use = {
          account_id: 1,
          application_id: null,
          today: '2026-11-27',
          points_per_period: period,
          points_per_day: day,
          points_in_period: used,
          points_today: today,
        };
        const isPassed = (spent: number, limit: number | null, share: number) =>
          limit !== null && limit > 0 && BigInt(spent) * 100n >= BigInt(share) * BigInt(limit);
        const sorted = wanted.toSorted((one, other) => one - other);
        expect(passedShares(use, wanted).map(({ window, share }) => [window, share])).toEqual([
          ...sorted.filter((share) => isPassed(used, period, share)).map((share) => ['period', share]),
          ...sorted.filter((share) => isPassed(today, day, share)).map((share) => ['day', share]),
        ]);
      },
    ),
  );
});
