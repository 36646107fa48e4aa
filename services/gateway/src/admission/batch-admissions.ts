import { batchCalls } from '@tollgate/redis/batch-calls';
import type { PayerEntitlement } from '../entitle/entitle.ts';
import type { AdmissionKind, AdmissionDecision, DecideAdmissions } from './admit-script.ts';

export type DecideAdmission = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  leaseId: string,
) => Promise<AdmissionDecision>;

/** One script call per batch and kind, keyed by the entitlement object that calls with the same cache entry share. */
export function batchAdmissions(decideAll: DecideAdmissions): DecideAdmission {
  const of = (kind: AdmissionKind) =>
    batchCalls((payer: PayerEntitlement, leaseIds: readonly string[]) => decideAll(payer, kind, leaseIds));
  const batches = { call: of('call'), subscription: of('subscription') };
  return (payer, kind, leaseId) => batches[kind](payer, leaseId);
}
