import type { Seen, Served } from './load.ts';

/**
 * Checks what limits allow, only by the times at which callers and the upstream saw their calls: admissions are
 * between a call's beginning and its arrival at the upstream, refusals between its beginning and its end, and slots are
 * held within the call. Each check returns contradictions, without tolerance.
 */
export type Admitted = Seen & Served;

/** Windows in which more calls were admitted than a minute's worth and what accrued meanwhile. */
export function overTheRate(admitted: readonly Admitted[], perMinute: number): string[] {
  const byArrival = admitted.toSorted((one, other) => one.cameMs - other.cameMs);
  const faults: string[] = [];
  for (const { beganMs: fromMs } of admitted) {
    let calls = 0;
    for (const { beganMs, cameMs } of byArrival) {
      if (beganMs < fromMs) continue;
      calls += 1;
      const allowed = perMinute + ((cameMs - fromMs) / 60_000) * perMinute;
      if (calls > allowed) faults.push(`${String(calls)} admitted, ${String(allowed)} allowed`);
    }
  }
  return faults;
}

/** Refusals although one more call was within the rate, however the calls were timed. */
export function refusedWithinTheRate(
  refused: readonly Seen[],
  admitted: readonly Admitted[],
  perMinute: number,
): Seen[] {
  const began = sorted(admitted.map(({ beganMs }) => beganMs));
  const came = sorted(admitted.map(({ cameMs }) => cameMs));
  const windows = admitted.map(({ beganMs, cameMs }) => ({
    beganMs,
    cameMs,
    before: countBelow(came, beganMs),
  }));
  return refused.filter(({ beganMs, endedMs }) => {
    const later = began.length - countBelow(began, endedMs);
    const levels = windows
      .filter((window) => window.beganMs <= endedMs)
      .map(({ cameMs, before }) => {
        // The least that can have accrued: from the window's latest beginning to the refusal's earliest moment.
        const accrued = (Math.max(0, beganMs - cameMs) / 60_000) * perMinute;
        return admitted.length - before - later - accrued;
      });
    return Math.max(0, ...levels) <= perMinute - 1;
  });
}

/** Refusals during which fewer calls than the limit can have held a slot. */
export function refusedWithFreeSlots(
  refused: readonly Seen[],
  admitted: readonly Admitted[],
  limit: number,
): Seen[] {
  const began = sorted(admitted.map(({ beganMs }) => beganMs));
  const ended = sorted(admitted.map(({ endedMs }) => endedMs));
  const placesAt = (atMs: number) => countBelow(began, atMs) - countBelow(ended, atMs);
  return refused.filter((refusal) => {
    const moments = began.slice(countBelow(began, refusal.beganMs), countBelow(began, refusal.endedMs));
    // A call that begins takes its slot just after that moment.
    const most = Math.max(placesAt(refusal.beganMs), ...moments.map((atMs) => placesAt(atMs) + 1));
    return most < limit;
  });
}

/** Calls that began after responses worth the limit had reached callers. */
export function admittedBeyondPoints(admitted: readonly Admitted[], limit: number): Seen[] {
  const settled = admitted.toSorted((one, other) => one.endedMs - other.endedMs);
  return admitted.filter(({ beganMs }) => pointsUntil(settled, beganMs, ({ endedMs }) => endedMs) >= limit);
}

/** Refusals that ended before the upstream had answered calls worth the limit. */
export function refusedWithPointsLeft(
  refused: readonly Seen[],
  admitted: readonly Admitted[],
  limit: number,
): Seen[] {
  const answered = admitted.toSorted((one, other) => one.answeredMs - other.answeredMs);
  return refused.filter(
    ({ endedMs }) => pointsUntil(answered, endedMs, ({ answeredMs }) => answeredMs) < limit,
  );
}

function pointsUntil(
  calls: readonly Admitted[],
  untilMs: number,
  momentOf: (call: Admitted) => number,
): number {
  let points = 0;
  for (const call of calls) {
    if (momentOf(call) >= untilMs) break;
    points += call.points;
  }
  return points;
}

const sorted = (moments: number[]) => moments.toSorted((one, other) => one - other);

/** The number of sorted moments before one, by binary search. */
function countBelow(moments: readonly number[], limit: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle] ?? Infinity) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
