import { gatherTurn } from '@tollgate/redis/gather-turn';
import type { Charge } from '../entitle/entitle.ts';
import type { AdmissionKind, AdmitAnswer, AskAdmissions } from './admit-script.ts';

/** Asks for one call, with a name for its lease. */
export type AskAdmission = (charge: Charge, kind: AdmissionKind, leaseId: string) => Promise<AdmitAnswer>;

/**
 * Calls of one payer and one kind that come in one turn are asked for at once. They are gathered by the charge
 * itself: calls that know the same answer of account share it.
 */
export function gatherAdmissions(askAll: AskAdmissions): AskAdmission {
  const of = (kind: AdmissionKind) =>
    gatherTurn((charge: Charge, leaseIds: readonly string[]) => askAll(charge, kind, leaseIds));
  const turns = { call: of('call'), subscription: of('subscription') };
  return (charge, kind, leaseId) => turns[kind](charge, leaseId);
}
