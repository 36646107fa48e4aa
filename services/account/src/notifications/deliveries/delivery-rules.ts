export type RetryRules = {
  /** After the last delay, the delivery fails. */
  retryDelaysSec: readonly number[];
  /** After all attempts have failed for this long. */
  disableAfterSec: number;
};

/** Spreads the retries of deliveries that failed together. */
const JITTER = 0.1;

/**
 * Null after the last attempt. `Retry-After` counts if it is later, up to the longest delay, so that no
 * server keeps a delivery pending for years. `random` is from 0 to 1.
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

/** Null if the webhook stays enabled. */
export function disableReason(
  { gone, failingForSec }: { gone: boolean; failingForSec: number },
  { disableAfterSec }: RetryRules,
): 'gone' | 'failing' | null {
  if (gone) return 'gone';
  return failingForSec >= disableAfterSec ? 'failing' : null;
}
