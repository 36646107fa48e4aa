import { batchCalls } from '@tollgate/redis/batch-calls';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import type {
  AdmissionKind,
  AdmissionDecision,
  DecideAdmissions,
  Reservation,
} from '../../ledger/admit-script.ts';

export type DecideAdmission = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  leaseId: string,
  units: number,
  reservation: Reservation | null,
) => Promise<AdmissionDecision>;

/**
 * Calls of one payer and kind in one turn of the event loop are decided together, keyed by the entitlement object that
 * calls with the same cache entry share. Calls of several units are few, and are decided by themselves, as are those that
 * reserve points.
 */
export function batchAdmissions(decideAll: DecideAdmissions): DecideAdmission {
  const of = (kind: AdmissionKind) =>
    batchCalls((payer: PayerEntitlement, leaseIds: readonly string[]) =>
      decideAll(payer, kind, leaseIds, 1, null),
    );
  const batches = { call: of('call'), subscription: of('subscription') };
  return async (payer, kind, leaseId, units, reservation) => {
    if (units === 1 && reservation === null) return batches[kind](payer, leaseId);
    const [decision] = await decideAll(payer, kind, [leaseId], units, reservation);
    if (decision === undefined) throw new Error('the admission script decided on nothing');
    return decision;
  };
}
