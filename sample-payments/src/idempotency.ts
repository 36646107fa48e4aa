import { createHash } from 'node:crypto';
import { Failure } from './http/failure.ts';
import type { Remembered } from './store.ts';

/** Stripe forgets a key after at least 24 hours. */
const KEPT_SEC = 24 * 3_600;

export function fingerprintOf(method: string, path: string, body: string): string {
  return createHash('sha256').update(`${method} ${path}\n${body}`).digest('hex');
}

/** @throws {Failure} idempotency_error if the key was used for another request */
export function recall(
  keys: Record<string, Remembered>,
  key: string,
  fingerprint: string,
  now: number,
): Remembered | undefined {
  const known = keys[key];
  if (known === undefined || known.at + KEPT_SEC <= now) return undefined;
  if (known.fingerprint === fingerprint) return known;
  throw new Failure(
    400,
    'idempotency_error',
    `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  );
}
