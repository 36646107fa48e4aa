/** Both in one unit: points, milliseconds or bytes. */
export type Used = { limit: number; used: number };

export type PeriodBounds = { started_at: Date; end: Date };

export type UsedSince = { used: number; since: Date };

const DAY_MS = 86_400_000;

/** A pace covers at least a day: a figure per day is never above what was used in all. */
const MIN_PACE_MS = DAY_MS;

/** Of a period, before usage is taken to go on as it began. */
const MIN_FORECAST_PERCENT = 3;

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

/**
 * When forecasts begin: after a day and 3% of the period. Each period counts alone, so that a change of plan starts
 * anew. Null if the period ends before.
 */
export function forecastFrom({ started_at, end }: PeriodBounds): Date | null {
  const lengthMs = end.getTime() - started_at.getTime();
  const waitMs = Math.max(DAY_MS, Math.ceil((lengthMs * MIN_FORECAST_PERCENT) / 100_000) * 1_000);
  return waitMs < lengthMs ? new Date(started_at.getTime() + waitMs) : null;
}

export function perDay({ used, since }: UsedSince, now: Date): number {
  // A product of floats can be rounded up.
  return Math.min(Math.floor((used * DAY_MS) / paceMs(since, now)), used);
}

/** When the limit will be reached; null if it is too early to say, the period ends first or the limit is already reached. */
export function reachedAt(
  { limit, used }: Used,
  pace: UsedSince,
  bounds: PeriodBounds,
  now: Date,
): Date | null {
  const from = forecastFrom(bounds);
  if (used >= limit || pace.used === 0 || from === null || now < from) return null;
  const leftMs = ((limit - used) * paceMs(pace.since, now)) / pace.used;
  const atMs = Math.ceil((now.getTime() + leftMs) / 1_000) * 1_000;
  return atMs < bounds.end.getTime() ? new Date(atMs) : null;
}

function paceMs(since: Date, now: Date): number {
  return Math.max(now.getTime() - since.getTime(), MIN_PACE_MS);
}

function floorShare(part: number, whole: number): number {
  // In integers: a product of floats can be rounded up to a limit that is not reached.
  return Number((BigInt(part) * 10_000n) / BigInt(whole)) / 10_000;
}
