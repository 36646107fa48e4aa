import { Problem } from '@tollgate/http/problem';
import { hashPassword, isHash, unmatchableHash, verifyPassword } from './password.ts';

/** argon2id off the event loop, with bounded concurrency and a bounded queue. */
export type PasswordHasher = {
  /** @throws {Problem} service_unavailable if the queue is full; so do the others */
  hash: (password: string) => Promise<string>;
  /** Without a hash the result is false at the same cost, so that the time doesn't tell whether an account exists. */
  verify: (password: string, stored: string | undefined) => Promise<boolean>;
};

type Operation = 'hash' | 'verification';

/** Each hash takes 19 MiB and one of libuv's four threads, which DNS and file access need too. */
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
          cause: new Error('the password hash queue is full'),
        });
      }
      // Hands the slot to the next in the queue, so that a later caller can't take it.
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
