/** How fast a limit is used up, without SQL and without a clock. */

/** A limit of a period and what is used of it, in one unit: points, milliseconds or bytes. */
export type Used = { limit: number; used: number };

/** From the period's beginning to the end of its last second. */
export type PeriodBounds = { started_at: Date; end: Date };

/** What was used since an instant. */
export type UsedSince = { used: number; since: Date };

/**
 * A pace is taken over an hour at least, as if the rest of it had been silent: otherwise the first calls of a period
 * would announce its end.
 */
const MIN_PACE_MS = 3_600_000;

const DAY_MS = 86_400_000;

/**
 * The share of a limit that is used, rounded down to four digits, so that it is 1 or more exactly where the limit is
 * reached. A limit of 0 is reached from the start.
 */
export function usedShare({ limit, used }: Used): number {
  return limit === 0 ? 1 : floorShare(used, limit);
}

/** The share of the period that has passed, from 0 to 1, rounded down likewise. */
export function elapsedShare({ started_at, end }: PeriodBounds, now: Date): number {
  const length = end.getTime() - started_at.getTime();
  const elapsed = Math.min(Math.max(now.getTime() - started_at.getTime(), 0), length);
  return floorShare(elapsed, length);
}

/** What would be used in a day at a pace, to the whole unit. */
export function perDay({ used, since }: UsedSince, now: Date): number {
  return Math.round((used * DAY_MS) / paceMs(since, now));
}

/**
 * The second by which a limit will be reached if usage goes on at a pace; null where the period ends before, or the
 * limit is reached already.
 */
export function reachedAt(
  { limit, used }: Used,
  pace: UsedSince,
  { end }: Pick<PeriodBounds, 'end'>,
  now: Date,
): Date | null {
  if (used >= limit || pace.used === 0) return null;
  const leftMs = ((limit - used) * paceMs(pace.since, now)) / pace.used;
  const atMs = Math.ceil((now.getTime() + leftMs) / 1_000) * 1_000;
  return atMs < end.getTime() ? new Date(atMs) : null;
}

function paceMs(since: Date, now: Date): number {
  return Math.max(now.getTime() - since.getTime(), MIN_PACE_MS);
}

function floorShare(part: number, whole: number): number {
  // In whole numbers: a product of floats can be rounded up, to a limit that isn't reached.
  return Number((BigInt(part) * 10_000n) / BigInt(whole)) / 10_000;
}
