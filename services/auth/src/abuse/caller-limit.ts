import { tooManyRequests } from './too-many-requests.ts';

const SECOND_MS = 1_000;

/**
 * Counts a request of a caller.
 * @throws {Problem} too_many_requests
 */
export type CountRequest = (caller: string) => void;

/**
 * Limits each caller's requests of one kind to `perSec` a second, in this process: it keeps one runaway caller from
 * taking the process from all others, and costs no round trip.
 */
export function createCallerLimit(options: {
  perSec: number;
  /** By caller: when its allowance is whole again. A bounded map forgets callers, which gives them a new one. */
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
