import { z } from 'zod';

/**
 * Durations of calls are counted in buckets of a fixed size, so that those of gateways, days and operations add up.
 * Bucket n has those from 2^(n/2) ms to below 2^((n+1)/2) ms; the first one also shorter ones, the last one, which begins
 * at 12 minutes, also longer ones.
 */
export const DURATION_BUCKETS = 40;

/** Counts of the buckets that have any. */
export const durationCountsSchema = z
  .array(
    z.tuple([
      z
        .int()
        .min(0)
        .max(DURATION_BUCKETS - 1),
      z.int().min(1),
    ]),
  )
  .max(DURATION_BUCKETS);

export function durationBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(Math.floor(2 * Math.log2(ms)), DURATION_BUCKETS - 1);
}

/**
 * The duration, in ms, that so much of the counted ones don't exceed, interpolated within its bucket, so at most 1.42 times
 * too long or too short. Null without any.
 */
export function durationQuantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [bucket, count] of counts.entries()) {
    if (count >= left && count > 0) return Math.round(2 ** ((bucket + left / count) / 2));
    left -= count;
  }
  return Math.round(2 ** (counts.length / 2));
}
