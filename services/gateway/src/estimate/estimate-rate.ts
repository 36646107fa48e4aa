import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import { Problem } from '@tollgate/http/problem';
import { createAccountRate } from '../http/account-rate.ts';
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

export function createEstimateRate(perMinute: number, nowMs?: () => number): EstimateRate {
  const what = 'estimates or refused documents';
  const ofAccounts = createAccountRate(perMinute, what, nowMs);
  const ofPayers = createAccountRate(perMinute, what, nowMs);

  function take({ accountId, payerId }: EstimateCaller): void {
    ofAccounts.take(accountId);
    ofPayers.take(payerId);
  }

  return {
    checkCall: ofAccounts.check,
    takeEstimate: (caller) => {
      ofPayers.check(caller.payerId);
      take(caller);
    },
    takeRefused: (error, caller) => {
      if (error instanceof Problem && REFUSED_DOCUMENTS.has(error.code)) take(caller);
    },
  };
}
