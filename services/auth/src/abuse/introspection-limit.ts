import type { RequestHandler } from 'express';
import { serviceCallerId } from '@tollgate/private-api/credential';
import { tooManyRequests } from './too-many-requests.ts';

const SECOND_MS = 1_000;

/**
 * Express middleware behind requireServiceCredential: each caller's introspections of this process, at most
 * perSec a second. It keeps one runaway service from taking the process from all others, which is why it
 * counts here and not in Redis: an introspection stays one round trip.
 *
 * @throws {Problem} too_many_requests
 */
export function limitIntrospections(options: { perSec: number; onLimited: () => void }): RequestHandler {
  const { perSec, onLimited } = options;
  const costMs = SECOND_MS / perSec;
  /** By caller: when its allowance is whole again. As many as there are service credentials. */
  const wholeAt = new Map<string, number>();
  return (_req, res, next) => {
    const caller = serviceCallerId(res);
    const now = performance.now();
    const whole = Math.max(wholeAt.get(caller) ?? 0, now) + costMs;
    if (whole - now > SECOND_MS) {
      onLimited();
      throw tooManyRequests(whole - now - SECOND_MS);
    }
    wholeAt.set(caller, whole);
    next();
  };
}
