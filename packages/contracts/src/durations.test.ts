import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DURATION_BUCKETS, durationBucket, durationQuantile } from './durations.ts';

function countsOf(durationsMs: readonly number[]): number[] {
  const counts = Array.from({ length: DURATION_BUCKETS }, () => 0);
  for (const ms of durationsMs) {
    const bucket = durationBucket(ms);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

test.each([
  [0, 0],
  [1, 0],
  [1.42, 1],
  [2, 2],
  [1_000, 19],
  [1e9, DURATION_BUCKETS - 1],
])('%d ms are in bucket %i', (ms, bucket) => {
  expect(durationBucket(ms)).toBe(bucket);
});

test('a quantile is at most 1.42 times the exact one, or less than it by as much', () => {
  const durations = fc.array(fc.double({ min: 1, max: 500_000, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95), (all, share) => {
      const sorted = all.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      const found = durationQuantile(countsOf(all), share) ?? 0;
      // Rounded to whole milliseconds.
      expect(found + 0.5).toBeGreaterThanOrEqual(exact / 1.42);
      expect(found - 0.5).toBeLessThanOrEqual(exact * 1.42);
    }),
  );
});

test('without durations there is no quantile', () => {
  expect(durationQuantile(countsOf([]), 0.5)).toBeNull();
});
