import { LRUCache } from 'lru-cache';
import { Problem } from '@tollgate/http/problem';

/** How many estimates and refused documents a payer may have, in this process. */
export type EstimateRate = {
  /** @throws {Problem} too_many_requests if there were too many */
  check: (payerId: number) => void;
  take: (payerId: number) => void;
};

const MINUTE_MS = 60_000;
const MAX_PAYERS = 100_000;

/** A leaky bucket: a minute's worth passes at once. */
export function createEstimateRate(perMinute: number, nowMs = () => performance.now()): EstimateRate {
  /** When each payer's bucket will be empty. */
  const emptyAtMs = new LRUCache<number, number>({ max: MAX_PAYERS });
  const intervalMs = MINUTE_MS / perMinute;
  return {
    check: (payerId) => {
      const waitMs = (emptyAtMs.get(payerId) ?? 0) - nowMs() - (MINUTE_MS - intervalMs);
      // Sums of fractions may be off by less than this.
      if (waitMs <= 0.001) return;
      throw new Problem('too_many_requests', {
        detail: `Too many estimates or refused documents; ${String(perMinute)} per minute are allowed.`,
        headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
      });
    },
    take: (payerId) => {
      emptyAtMs.set(payerId, Math.max(emptyAtMs.get(payerId) ?? 0, nowMs()) + intervalMs);
    },
  };
}
