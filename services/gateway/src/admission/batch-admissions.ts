import { batchCalls } from '@tollgate/redis/batch-calls';
import type { PayerEntitlement } from '../entitle/entitle.ts';
import type { AdmissionKind, AdmissionDecision, DecideAdmissions } from './admit-script.ts';

export type DecideAdmission = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  leaseId: string,
) => Promise<AdmissionDecision>;

/**
 * Decides calls of one payer and kind that arrive in the same event-loop turn with one script call. Batches are
 * keyed by the entitlement object, which calls with the same cached entitlement share.
 */
export function batchAdmissions(decideAll: DecideAdmissions): DecideAdmission {
  const of = (kind: AdmissionKind) =>
    batchCalls((payer: PayerEntitlement, leaseIds: readonly string[]) => decideAll(payer, kind, leaseIds));
  const batches = { call: of('call'), subscription: of('subscription') };
  return (payer, kind, leaseId) => batches[kind](payer, leaseId);
}
