import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../ledger/principal.ts';

/** Who asks, and who pays; the account itself where the payer isn't known. */
export type EstimateCaller = { accountId: number; payerId: number };

/**
 * How many estimates and refused documents a payer may have, in this process. Calls are held up only by those of their
 * own account, so that no member holds up their team.
 */
export type EstimateRate = {
  /** For a call. @throws {Problem} too_many_requests if its account had too many */
  checkCall: (accountId: number) => void;
  /** Takes an estimate. @throws {Problem} too_many_requests if its payer had too many */
  takeEstimate: (caller: EstimateCaller) => void;
  /** Takes one for a document that is refused, which costs time, but no points. */
  takeRefused: (error: unknown, caller: EstimateCaller) => void;
};

export function estimateCaller(
  { account_id: accountId }: Pick<ActiveToken, 'account_id'>,
  payer: Pick<PayerEntitlement, 'payerId'> | null,
): EstimateCaller {
  return { accountId, payerId: payer?.payerId ?? accountId };
}

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

/** When each one's bucket will be empty. */
type Buckets = LRUCache<number, number>;

/** Leaky buckets: a minute's worth passes at once. */
export function createEstimateRate(perMinute: number, nowMs = () => performance.now()): EstimateRate {
  const ofAccounts: Buckets = new LRUCache({ max: MAX_ACCOUNTS });
  const ofPayers: Buckets = new LRUCache({ max: MAX_ACCOUNTS });
  const intervalMs = MINUTE_MS / perMinute;

  function fill(buckets: Buckets, id: number): void {
    buckets.set(id, Math.max(buckets.get(id) ?? 0, nowMs()) + intervalMs);
  }

  function take({ accountId, payerId }: EstimateCaller): void {
    fill(ofAccounts, accountId);
    fill(ofPayers, payerId);
  }

  function check(buckets: Buckets, id: number): void {
    const emptyMs = buckets.get(id);
    // Nearly every call: it shouldn't pay for a look at the clock.
    if (emptyMs === undefined) return;
    const waitMs = emptyMs - nowMs() - (MINUTE_MS - intervalMs);
    // Sums of fractions may be off by less than this.
    if (waitMs <= 0.001) return;
    throw new Problem('too_many_requests', {
      detail: `Too many estimates or refused documents; ${String(perMinute)} per minute are allowed.`,
      headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
    });
  }

  return {
    checkCall: (accountId) => {
      check(ofAccounts, accountId);
    },
    takeEstimate: (caller) => {
      check(ofPayers, caller.payerId);
      take(caller);
    },
    takeRefused: (error, caller) => {
      if (error instanceof Problem && REFUSED_DOCUMENTS.has(error.code)) take(caller);
    },
  };
}
