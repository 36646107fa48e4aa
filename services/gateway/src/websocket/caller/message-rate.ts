/** The function returns whether a socket has sent more messages within a second than it may. */
export function createMessageRate(maxPerSec: number): (nowMs: number) => boolean {
  let windowMs = 0;
  let count = 0;
  return (nowMs) => {
    if (nowMs - windowMs >= 1_000) {
      windowMs = nowMs;
      count = 0;
    }
    count += 1;
    return count > maxPerSec;
  };
}
