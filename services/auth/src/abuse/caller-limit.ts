import { tooManyRequests } from './too-many-requests.ts';

const SECOND_MS = 1_000;

/** @throws {Problem} too_many_requests */
export type CountRequest = (caller: string) => void;

/** Counts per process, which costs no round trip: one runaway caller mustn't take the process from all others. */
export function createCallerLimit(options: {
  perSec: number;
  /** By caller, when its allowance is full again. A bounded map forgets callers, who start with a full one. */
  wholeAt: Pick<Map<string, number>, 'get'> & { set: (caller: string, timeMs: number) => unknown };
  onLimited: () => void;
}): CountRequest {
  const { perSec, wholeAt, onLimited } = options;
  const costMs = SECOND_MS / perSec;
  return (caller) => {
    const now = performance.now();
    const whole = Math.max(wholeAt.get(caller) ?? 0, now) + costMs;
    if (whole - now > SECOND_MS) {
      onLimited();
      throw tooManyRequests(whole - now - SECOND_MS);
    }
    wholeAt.set(caller, whole);
  };
}
