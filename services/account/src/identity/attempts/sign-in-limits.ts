import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@tollgate/http/problem';
import type { AttemptLimit } from './attempt-counts.ts';

export type SignInLimits = { windowSec: number; perAccountAndAddress: number; perAddress: number };

/** Failures of an account, from all addresses, without a delay. */
const UNSLOWED_FAILURES = 20;

const DELAY_STEP_MS = 100;
const MAX_DELAY_MS = 2_000;

/** Delayed attempts per process; each is an open connection. */
const MAX_DELAYED = 200;

/**
 * Limits for one password attempt. The account alone has no maximum, with which a stranger could lock its owner out
 * (ADR 0025). It is named by what was typed, so that accounts that don't exist are counted alike.
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

/** Slows guessing down without ever turning the owner away. */
function delayMs(attemptsOfAccount: number): number {
  return Math.min(MAX_DELAY_MS, DELAY_STEP_MS * Math.max(0, attemptsOfAccount - UNSLOWED_FAILURES));
}

export type SlowDown = (attemptsOfAccount: number) => Promise<void>;

/** @throws {Problem} (the returned function) service_unavailable if too many attempts are delayed already */
export function createSlowDown(): SlowDown {
  let delayed = 0;
  return async (attemptsOfAccount) => {
    const ms = delayMs(attemptsOfAccount);
    if (ms === 0) return;
    if (delayed >= MAX_DELAYED) {
      throw new Problem('service_unavailable', { cause: new Error('too many delayed sign-ins') });
    }
    delayed += 1;
    try {
      await sleep(ms);
    } finally {
      delayed -= 1;
    }
  };
}
