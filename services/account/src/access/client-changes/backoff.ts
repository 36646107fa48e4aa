const FIRST_MS = 50;

/** auth, back from an outage, must learn of a revocation within a second (service specification, "Token"). */
const MAX_MS = 1_000;

export function backoffMs(attempts: number): number {
  return Math.min(FIRST_MS * 2 ** (attempts - 1), MAX_MS);
}
