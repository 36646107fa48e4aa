import { createHash } from 'node:crypto';
import { Failure } from './http/failure.ts';

/** An answer that is given again for the same Idempotency-Key. `at`: in seconds. */
export type Remembered = { fingerprint: string; status: number; body: string; at: number };

/** Stripe forgets a key after at least 24 hours. */
const KEPT_SEC = 24 * 3_600;

function isKept({ at }: Remembered, now: number): boolean {
  return at + KEPT_SEC > now;
}

/** Those that Stripe would still know. */
export function keptKeys(keys: Record<string, Remembered>, now: number): Record<string, Remembered> {
  return Object.fromEntries(Object.entries(keys).filter(([, known]) => isKept(known, now)));
}

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
  if (known === undefined || !isKept(known, now)) return undefined;
  if (known.fingerprint === fingerprint) return known;
  throw new Failure(
    400,
    'idempotency_error',
    `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  );
}
