type UsageSlice = { points: number; requests: number; timeMs: number };

export type OperationMeter = {
  takeSlice: (nowMs: number) => UsageSlice;
  /** Whether a slice has been taken. */
  isSettled: () => boolean;
};

const MINUTE_MS = 60_000;

/** One request, its open time and started minutes, by performance.now() so that setting the clock bills nothing. */
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
