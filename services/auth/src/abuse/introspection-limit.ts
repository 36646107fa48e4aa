import { tooManyRequests } from './too-many-requests.ts';

const SECOND_MS = 1_000;

/**
 * Counts an introspection of a caller.
 * @throws {Problem} too_many_requests
 */
export type CountIntrospection = (caller: string) => void;

/**
 * Limits each caller's introspections of this process, to perSec a second. It keeps one runaway service from taking the process from all others, which is why it
 * counts here and not in Redis: an introspection stays one round trip.
 */
export function createIntrospectionLimit(options: {
  perSec: number;
  onLimited: () => void;
}): CountIntrospection {
  const { perSec, onLimited } = options;
  const costMs = SECOND_MS / perSec;
  /** By caller: when its allowance is whole again. As many as there are service credentials. */
  const wholeAt = new Map<string, number>();
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
