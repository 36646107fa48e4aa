/** The rules of deliveries (ADR 0030), without SQL and without a clock. */

export type RetryRules = {
  /** How long each further attempt waits after the one before; when they are used up a delivery has failed. */
  retryDelaysSec: readonly number[];
  /** A webhook whose attempts have all failed for so long is switched off. */
  disableAfterSec: number;
};

/** Retries of many deliveries that failed together shall not come together again. */
const JITTER = 0.1;

/** How long the next attempt waits after so many; null where there is none. `random` is from 0 to 1. */
export function retryDelayMs(
  attempts: number,
  { retryDelaysSec }: RetryRules,
  random: number,
): number | null {
  const delaySec = retryDelaysSec[attempts - 1];
  return delaySec === undefined ? null : Math.round(delaySec * 1_000 * (1 + JITTER * random));
}

/** Why a webhook is to be switched off after a failed attempt; null where it isn't. */
export function disableReason(
  { gone, failingForSec }: { gone: boolean; failingForSec: number },
  { disableAfterSec }: RetryRules,
): 'gone' | 'failing' | null {
  if (gone) return 'gone';
  return failingForSec >= disableAfterSec ? 'failing' : null;
}
