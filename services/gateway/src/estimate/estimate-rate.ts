import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/http/problem';
import { createAccountRate } from '../http/account-rate.ts';
import type { AccountRate } from '../http/account-rate.ts';

/** How many estimates and refused documents an account may have, in this process: no member holds up their team. */
export type EstimateRate = AccountRate & {
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

export function createEstimateRate(perMinute: number, nowMs?: () => number): EstimateRate {
  const rate = createAccountRate(perMinute, 'estimates or refused documents', nowMs);
  return {
    ...rate,
    takeRefused: (error, accountId) => {
      if (error instanceof Problem && REFUSED_DOCUMENTS.has(error.code)) rate.take(accountId);
    },
  };
}
