/** The Date header has whole seconds, so a smaller difference is none. */
const TOLERANCE_MS = 2_000;

let offsetMs = 0;

/** Measures how far the browser's clock is off, by the Date header of an uncached response. */
export function noteServerTime(date: string | null, nowMs = Date.now()): void {
  const serverMs = Date.parse(date ?? '');
  if (Number.isNaN(serverMs)) return;
  const measuredMs = serverMs + 500 - nowMs;
  offsetMs = Math.abs(measuredMs) < TOLERANCE_MS ? 0 : measuredMs;
}

/** Milliseconds since the epoch by the server's clock: countdowns and relative times hold on a wrong browser clock. */
export function serverNowMs(): number {
  return Date.now() + offsetMs;
}
