import { randomBytes } from 'node:crypto';
import { Problem } from '@tollgate/problem';
import { hashPassword, verifyPassword } from './password.ts';

/** argon2id for requests: off the event loop, a few at a time, with a bounded line of those that wait. */
export type PasswordHasher = {
  /** @throws {Problem} service_unavailable where too many wait already; so do the others */
  hash: (password: string) => Promise<string>;
  verify: (password: string, stored: string) => Promise<boolean>;
  /** Costs what verify costs, and is false: for an account that there isn't. */
  verifyNothing: (password: string) => Promise<false>;
};

/**
 * Each takes 19 MiB and one of libuv's four threads, on which DNS and files wait as well: two leave room for
 * those.
 */
const CONCURRENCY = 2;

export function createPasswordHasher({ queueMax }: { queueMax: number }): PasswordHasher {
  const waiting: (() => void)[] = [];
  let running = 0;
  let nobodys: Promise<string> | undefined;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
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
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => inTurn(() => hashPassword(password)),
    verify: (password, stored) => inTurn(() => verifyPassword(password, stored)),
    verifyNothing: async (password) => {
      nobodys ??= hashPassword(randomBytes(16).toString('hex'));
      const stored = await nobodys;
      await inTurn(() => verifyPassword(password, stored));
      return false;
    },
  };
}
