import { Problem } from '@tollgate/http/problem';
import { hashPassword, isHash, unmatchableHash, verifyPassword } from './password.ts';

/** argon2id for requests: off the event loop, a few at a time, with a bounded line of those that wait. */
export type PasswordHasher = {
  /** @throws {Problem} service_unavailable where too many wait already; so do the others */
  hash: (password: string) => Promise<string>;
  /**
   * Whether a password is the one of a stored hash. Without an account, or with one that has no password, it is
   * false at the same cost: the time must not tell which it was.
   */
  verify: (password: string, stored: string | undefined) => Promise<boolean>;
};

/** What was worked out, for metrics. */
type Operation = 'hash' | 'verification';

/**
 * Each takes 19 MiB and one of libuv's four threads, on which DNS and files wait as well: two leave room for
 * those.
 */
const CONCURRENCY = 2;

export function createPasswordHasher({
  queueMax,
  onDone,
}: {
  queueMax: number;
  onDone: (operation: Operation) => void;
}): PasswordHasher {
  const waiting: (() => void)[] = [];
  let running = 0;
  const unmatchable = unmatchableHash();

  async function inTurn<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    if (running >= CONCURRENCY) {
      if (waiting.length >= queueMax) {
        throw new Problem('service_unavailable', {
          cause: new Error('too many passwords wait to be hashed'),
        });
      }
      // Whoever is done hands its place on, so that nobody who comes later can take it.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      const done = await work();
      onDone(operation);
      return done;
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => inTurn('hash', () => hashPassword(password)),
    verify: (password, stored = unmatchable) =>
      inTurn('verification', () => verifyPassword(password, isHash(stored) ? stored : unmatchable)),
  };
}
