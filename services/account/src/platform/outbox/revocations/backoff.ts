const FIRST_MS = 50;

/**
 * A revoked application is refused within a second (service specification, "Token"): auth, back from an outage,
 * must not have to wait longer for what it missed.
 */
const MAX_MS = 1_000;

/** How long a row rests after so many failed attempts. */
export function backoffMs(attempts: number): number {
  return Math.min(FIRST_MS * 2 ** (attempts - 1), MAX_MS);
}
