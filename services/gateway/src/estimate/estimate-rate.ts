import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/http/problem';

/** How many estimates and refused documents an account may have, in this process: no member holds up their team. */
export type EstimateRate = {
  /** @throws {Problem} too_many_requests if there were too many */
  check: (accountId: number) => void;
  take: (accountId: number) => void;
  /** Takes one for a document that is refused, which costs time, but no points. */
  takeRefused: (error: unknown, accountId: number) => void;
};

/** What the guards refuse, what can't be parsed, and what would cost too much. */
const REFUSED_DOCUMENTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'document_invalid',
  'document_too_large',
  'persisted_query_mismatch',
  'batch_too_large',
  'document_too_deep',
  'too_many_aliases',
  'too_many_root_fields',
  'too_many_tokens',
  'too_many_directives',
  'introspection_disabled',
  'document_not_trusted',
  'call_too_expensive',
  'price_unknown',
]);

const MINUTE_MS = 60_000;
const MAX_ACCOUNTS = 100_000;

/** A leaky bucket: a minute's worth passes at once. */
export function createEstimateRate(perMinute: number, nowMs = () => performance.now()): EstimateRate {
  /** When each account's bucket will be empty. */
  const emptyAtMs = new LRUCache<number, number>({ max: MAX_ACCOUNTS });
  const intervalMs = MINUTE_MS / perMinute;

  function take(accountId: number): void {
    emptyAtMs.set(accountId, Math.max(emptyAtMs.get(accountId) ?? 0, nowMs()) + intervalMs);
  }

  return {
    check: (accountId) => {
      const emptyMs = emptyAtMs.get(accountId);
      // Nearly every call: it shouldn't pay for a look at the clock.
      if (emptyMs === undefined) return;
      const waitMs = emptyMs - nowMs() - (MINUTE_MS - intervalMs);
      // Sums of fractions may be off by less than this.
      if (waitMs <= 0.001) return;
      throw new Problem('too_many_requests', {
        detail: `Too many estimates or refused documents; ${String(perMinute)} per minute are allowed.`,
        headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
      });
    },
    take,
    takeRefused: (error, accountId) => {
      if (error instanceof Problem && REFUSED_DOCUMENTS.has(error.code)) take(accountId);
    },
  };
}
