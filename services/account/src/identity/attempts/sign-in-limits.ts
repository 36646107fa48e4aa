import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@tollgate/http/problem';
import type { AttemptLimit } from './attempt-counts.ts';

export type SignInLimits = { windowSec: number; perAccountAndAddress: number; perAddress: number };

/** An account's failures, from everywhere, that still cost no time. */
const UNSLOWED_FAILURES = 20;

const DELAY_STEP_MS = 100;
const MAX_DELAY_MS = 2_000;

/** Attempts that a process holds back at one moment; each is an open connection. */
const MAX_DELAYED = 200;

/**
 * What an attempt at an account's password is counted by: the pair of account and address, the address, and
 * the account alone, which has no maximum, because with one a stranger could lock its owner out (ADR 0025). The
 * account is named by what was typed, so that those which don't exist are counted alike.
 */
export function passwordAttempt(
  { windowSec, perAccountAndAddress, perAddress }: SignInLimits,
  { account, address }: { account: string; address: string },
): [pair: AttemptLimit, address: AttemptLimit, account: AttemptLimit] {
  const who = account.toLowerCase();
  return [
    { subject: `sign-in account ${who} address ${address}`, max: perAccountAndAddress, windowSec },
    { subject: `sign-in address ${address}`, max: perAddress, windowSec },
    { subject: `sign-in account ${who}`, max: undefined, windowSec },
  ];
}

/** How long an attempt waits before it is looked at: the owner is never turned away, and a guesser is slower. */
function delayMs(attemptsOfAccount: number): number {
  return Math.min(MAX_DELAY_MS, DELAY_STEP_MS * Math.max(0, attemptsOfAccount - UNSLOWED_FAILURES));
}

export type SlowDown = (attemptsOfAccount: number) => Promise<void>;

/** @throws {Problem} (the function that it returns) service_unavailable where too many are held back already */
export function createSlowDown(): SlowDown {
  let delayed = 0;
  return async (attemptsOfAccount) => {
    const ms = delayMs(attemptsOfAccount);
    if (ms === 0) return;
    if (delayed >= MAX_DELAYED) {
      throw new Problem('service_unavailable', { cause: new Error('too many sign-ins are held back') });
    }
    delayed += 1;
    try {
      await sleep(ms);
    } finally {
      delayed -= 1;
    }
  };
}
