import { gatherTurn } from '@tollgate/redis/gather-turn';
import type { PayerEntitlement } from '../entitle/entitle.ts';
import type { AdmissionKind, AdmitAnswer, AskAdmissions } from './admit-script.ts';

/** Asks for one call, with a name for its lease. */
export type AskAdmission = (
  payer: PayerEntitlement,
  kind: AdmissionKind,
  leaseId: string,
) => Promise<AdmitAnswer>;

/**
 * Calls of one payer and one kind that come in one turn are asked for at once. They are gathered by the payer entitlement
 * itself: calls that know the same answer of account share it.
 */
export function gatherAdmissions(askAll: AskAdmissions): AskAdmission {
  const of = (kind: AdmissionKind) =>
    gatherTurn((payer: PayerEntitlement, leaseIds: readonly string[]) => askAll(payer, kind, leaseIds));
  const turns = { call: of('call'), subscription: of('subscription') };
  return (payer, kind, leaseId) => turns[kind](payer, leaseId);
}
