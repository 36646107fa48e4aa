import { LRUCache } from 'lru-cache';
import { Problem } from '@tollgate/http/problem';

/** How often something may be done for an account, in this process: no account holds up the others. */
export type AccountRate = {
  /** @throws {Problem} too_many_requests if it was done too often */
  check: (accountId: number) => void;
  take: (accountId: number) => void;
};

const MINUTE_MS = 60_000;
const MAX_ACCOUNTS = 100_000;

/** A leaky bucket: a minute's worth passes at once. `what` is in the refusal: "estimates". */
export function createAccountRate(
  perMinute: number,
  what: string,
  nowMs = () => performance.now(),
): AccountRate {
  /** When each account's bucket will be empty. */
  const emptyAtMs = new LRUCache<number, number>({ max: MAX_ACCOUNTS });
  const intervalMs = MINUTE_MS / perMinute;
  return {
    check: (accountId) => {
      const emptyMs = emptyAtMs.get(accountId);
      // Nearly every call: it shouldn't pay for a look at the clock.
      if (emptyMs === undefined) return;
      const waitMs = emptyMs - nowMs() - (MINUTE_MS - intervalMs);
      // Sums of fractions may be off by less than this.
      if (waitMs <= 0.001) return;
      throw new Problem('too_many_requests', {
        detail: `Too many ${what}; ${String(perMinute)} per minute are allowed.`,
        headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
      });
    },
    take: (accountId) => {
      emptyAtMs.set(accountId, Math.max(emptyAtMs.get(accountId) ?? 0, nowMs()) + intervalMs);
    },
  };
}
