/** Both in one unit: points, milliseconds or bytes. */
export type Used = { limit: number; used: number };

export type PeriodBounds = { started_at: Date; end: Date };

export type UsedSince = { used: number; since: Date };

/** A pace covers at least an hour, or the first calls of a period would predict its end. */
const MIN_PACE_MS = 3_600_000;

const DAY_MS = 86_400_000;

/**
 * Rounded down to four digits, so that it is 1 or more exactly if the limit is reached. A limit of 0 is always
 * reached.
 */
export function usedShare({ limit, used }: Used): number {
  return limit === 0 ? 1 : floorShare(used, limit);
}

export function elapsedShare({ started_at, end }: PeriodBounds, now: Date): number {
  const length = end.getTime() - started_at.getTime();
  const elapsed = Math.min(Math.max(now.getTime() - started_at.getTime(), 0), length);
  return floorShare(elapsed, length);
}

export function perDay({ used, since }: UsedSince, now: Date): number {
  return Math.round((used * DAY_MS) / paceMs(since, now));
}

/** When the limit will be reached; null if the period ends first or the limit is already reached. */
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
  // In integers: a product of floats can be rounded up to a limit that is not reached.
  return Number((BigInt(part) * 10_000n) / BigInt(whole)) / 10_000;
}
