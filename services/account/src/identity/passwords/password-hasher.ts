import { Problem } from '@tollgate/http/problem';
import { hashPassword, isHash, unmatchableHash, verifyPassword } from './password.ts';

/** Whom a hash is computed for. */
export type HashCaller = {
  addressGroup: string;
  /** Whether there is no reason to take it for a guesser: a session, or an address with hardly a failure. */
  isTrusted: boolean;
};

/** argon2id off the event loop, with bounded concurrency and a bounded queue (docs/design/identity.md). */
export type PasswordHasher = {
  /** @throws {Problem} service_unavailable if the queue has no place for the caller; so do the others */
  hash: (password: string, caller: HashCaller) => Promise<string>;
  /** Without a hash the result is false at the same cost, so that the time doesn't tell whether an account exists. */
  verify: (password: string, stored: string | undefined, caller: HashCaller) => Promise<boolean>;
};

type Operation = 'hash' | 'verification';

/** The part of the queue that is kept for trusted callers. */
const KEPT_SHARE = 0.5;

/** The part of the queue that one address may fill. */
const ADDRESS_SHARE = 0.25;

/**
 * How many hashes run at once: one for each core, as each takes one for its whole time, and leaving one of libuv's
 * threads to DNS and file access.
 */
export function hashWidth({ cores, threads }: { cores: number; threads: number }): number {
  return Math.max(1, Math.min(cores, threads - 1));
}

export function createPasswordHasher({
  queueMax,
  width,
  onDone,
}: {
  queueMax: number;
  width: number;
  onDone: (operation: Operation) => void;
}): PasswordHasher {
  const queue = createHashQueue(queueMax);
  let running = 0;
  const unmatchable = unmatchableHash();

  async function inTurn<T>(operation: Operation, caller: HashCaller, work: () => Promise<T>): Promise<T> {
    if (running < width) running += 1;
    // Hands the slot to the next in the queue, so that a later caller can't take it.
    else await queue.wait(caller);
    try {
      const done = await work();
      onDone(operation);
      return done;
    } finally {
      const next = queue.next();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password, caller) => inTurn('hash', caller, () => hashPassword(password)),
    verify: (password, stored = unmatchable, caller) =>
      inTurn('verification', caller, () => verifyPassword(password, isHash(stored) ? stored : unmatchable)),
  };
}

type Waiting = { addressGroup: string; begin: () => void };

/** Trusted callers and others are served in turn, so that a flood of either can't stop the other. */
function createHashQueue(max: number) {
  const trusted: Waiting[] = [];
  const others: Waiting[] = [];
  const perAddress = Math.max(1, Math.floor(max * ADDRESS_SHARE));
  const maxOthers = Math.max(1, Math.floor(max * (1 - KEPT_SHARE)));
  let turn = trusted;

  function assertPlace({ addressGroup, isTrusted }: HashCaller): void {
    const waiting = [...trusted, ...others];
    const ofAddress = waiting.filter((one) => one.addressGroup === addressGroup).length;
    if (waiting.length < max && (isTrusted || others.length < maxOthers) && ofAddress < perAddress) return;
    throw new Problem('service_unavailable', { cause: new Error('the password hash queue is full') });
  }

  return {
    wait: async (caller: HashCaller): Promise<void> => {
      assertPlace(caller);
      await new Promise<void>((begin) => {
        (caller.isTrusted ? trusted : others).push({ addressGroup: caller.addressGroup, begin });
      });
    },
    next: (): (() => void) | undefined => {
      const next = turn.shift() ?? (turn === trusted ? others : trusted).shift();
      turn = turn === trusted ? others : trusted;
      return next?.begin;
    },
  };
}
