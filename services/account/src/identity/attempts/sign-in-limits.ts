import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@tollgate/http/problem';
import { addressNetworks } from '@tollgate/http/address-group';
import type { AttemptLimit, Taken } from './attempt-counts.ts';

export type SignInLimits = { windowSec: number; perAccountAndAddress: number; perAddress: number };

/** Failures of an account, from all addresses, without a delay. */
const UNSLOWED_FAILURES = 20;

const DELAY_STEP_MS = 100;
const MAX_DELAY_MS = 2_000;

/** Delayed attempts per process, and per network in it; each is an open connection. */
const MAX_DELAYED = 200;
const MAX_DELAYED_PER_NETWORK = 10;

/**
 * Limits for one password attempt. The account alone has no maximum, with which a stranger could lock its owner out
 * (docs/design/identity.md). It is named by what was typed, so that accounts that don't exist are counted alike. An
 * IPv6 address counts for its wider networks as well, with wider limits (docs/design/identity.md).
 */
export function passwordAttempt(
  { windowSec, perAccountAndAddress, perAddress }: SignInLimits,
  { account, address }: { account: string; address: string },
): [pair: AttemptLimit, address: AttemptLimit, account: AttemptLimit, ...networks: AttemptLimit[]] {
  const who = account.toLowerCase();
  const [{ network: group }, ...wider] = addressNetworks(address);
  return [
    { subject: `sign-in account ${who} address ${group}`, max: perAccountAndAddress, windowSec },
    { subject: `sign-in address ${group}`, max: perAddress, windowSec },
    { subject: `sign-in account ${who}`, max: undefined, windowSec },
    ...wider.map(({ network, share }) => ({
      subject: `sign-in address ${network}`,
      max: perAddress * share,
      windowSec,
    })),
  ];
}

/** The part of its limit up to which an address has hardly a failure: people mistype passwords. */
const HARDLY_SHARE = 0.1;

/** Whether a password attempt comes from where hardly one has failed, its wider networks included. */
export function isFromQuietNetwork(
  attempt: ReturnType<typeof passwordAttempt>,
  { counts }: Pick<Taken, 'counts'>,
): boolean {
  const [, ...ofNetworks] = attempt;
  return ofNetworks.every(
    ({ max }, index) =>
      max === undefined || (counts[index + 1] ?? Infinity) <= Math.max(1, max * HARDLY_SHARE),
  );
}

/** Slows guessing down without ever turning the owner away. */
function delayMs(attemptsOfAccount: number): number {
  return Math.min(MAX_DELAY_MS, DELAY_STEP_MS * Math.max(0, attemptsOfAccount - UNSLOWED_FAILURES));
}

/** `addressGroup`: the network that the attempt comes from. */
export type SlowDown = (attemptsOfAccount: number, addressGroup: string) => Promise<void>;

/**
 * Per network, so that no one who guesses at one account's password takes the place of another caller. Not per account:
 * strangers could refuse its owner then.
 * @throws {Problem} (the returned function) service_unavailable if too many attempts are delayed already
 */
export function createSlowDown(): SlowDown {
  const delayedOf = new Map<string, number>();
  let delayed = 0;
  return async (attemptsOfAccount, addressGroup) => {
    const ms = delayMs(attemptsOfAccount);
    if (ms === 0) return;
    const ofNetwork = delayedOf.get(addressGroup) ?? 0;
    if (delayed >= MAX_DELAYED || ofNetwork >= MAX_DELAYED_PER_NETWORK) {
      throw new Problem('service_unavailable', { cause: new Error('too many delayed sign-ins') });
    }
    delayed += 1;
    delayedOf.set(addressGroup, ofNetwork + 1);
    try {
      await sleep(ms);
    } finally {
      delayed -= 1;
      const left = (delayedOf.get(addressGroup) ?? 1) - 1;
      if (left === 0) delayedOf.delete(addressGroup);
      else delayedOf.set(addressGroup, left);
    }
  };
}
