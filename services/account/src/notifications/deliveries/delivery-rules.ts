/** The rules of deliveries (ADR 0030), without SQL and without a clock. */

export type RetryRules = {
  /** How long each further attempt waits after the one before; when they are used up a delivery has failed. */
  retryDelaysSec: readonly number[];
  /** A webhook whose attempts have all failed for so long is switched off. */
  disableAfterSec: number;
};

/** Retries of many deliveries that failed together shall not come together again. */
const JITTER = 0.1;

/**
 * How long the next attempt waits after so many; null where there is none. What the server asks for counts where it is
 * later than our own delay, up to the longest of these, so that no server keeps a delivery waiting for years. `random`
 * is from 0 to 1.
 */
export function retryDelayMs(
  { attempts, retryAfterSec }: { attempts: number; retryAfterSec: number | null },
  { retryDelaysSec }: Pick<RetryRules, 'retryDelaysSec'>,
  random: number,
): number | null {
  const ownSec = retryDelaysSec[attempts - 1];
  if (ownSec === undefined) return null;
  const delaySec = Math.max(ownSec, Math.min(retryAfterSec ?? 0, Math.max(...retryDelaysSec)));
  return Math.round(delaySec * 1_000 * (1 + JITTER * random));
}

/** Why a webhook is to be switched off after a failed attempt; null where it isn't. */
export function disableReason(
  { gone, failingForSec }: { gone: boolean; failingForSec: number },
  { disableAfterSec }: RetryRules,
): 'gone' | 'failing' | null {
  if (gone) return 'gone';
  return failingForSec >= disableAfterSec ? 'failing' : null;
}
