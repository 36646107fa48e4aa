/** What an operation has cost since the last time it was asked. */
type UsageSlice = { points: number; requests: number; timeMs: number };

export type OperationMeter = {
  /** What is not yet settled. Each millisecond, request and point is handed out once. */
  takeSlice: (nowMs: number) => UsageSlice;
  /** Whether any of it has been handed out. */
  isSettled: () => boolean;
};

const MINUTE_MS = 60_000;

/**
 * The meter of one open operation: one request, its open time, and points for every minute that has begun.
 * Times are of performance.now(): a clock that is set changes no bill. Fractions of a millisecond stay for the
 * next slice, so that the slices add up to the whole.
 */
export function createOperationMeter(openedMs: number, pointsPerMinute: number): OperationMeter {
  let settledMs = 0;
  let settledMinutes = 0;
  return {
    takeSlice: (nowMs) => {
      const elapsedMs = Math.max(settledMs, Math.floor(nowMs - openedMs));
      const startedMinutes = Math.floor(elapsedMs / MINUTE_MS) + 1;
      const slice = {
        points: (startedMinutes - settledMinutes) * pointsPerMinute,
        requests: settledMinutes === 0 ? 1 : 0,
        timeMs: elapsedMs - settledMs,
      };
      settledMs = elapsedMs;
      settledMinutes = startedMinutes;
      return slice;
    },
    isSettled: () => settledMinutes > 0,
  };
}
