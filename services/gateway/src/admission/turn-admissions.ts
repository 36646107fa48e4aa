import { atTurnEnd } from '@tollgate/redis/gather-writes';
import type { Charge } from '../entitle/entitle.ts';
import type { AdmissionKind, AdmitAnswer, AskAdmissions } from './admit-script.ts';

/** Asks for one call, with a name for its lease. */
export type AskAdmission = (charge: Charge, kind: AdmissionKind, leaseId: string) => Promise<AdmitAnswer>;

type Waiting = {
  leaseId: string;
  resolve: (answer: AdmitAnswer) => void;
  reject: (error: unknown) => void;
};

/** What one command asks for, at most: Redis does nothing else meanwhile. */
const MAX_CALLS = 256;

/**
 * Calls of one payer that come in one turn of the event loop are asked for at once, in the order in which they
 * came: where many come, that spares Redis and this process most of the commands, and it delays none, because
 * the turn's commands go out together anyway.
 */
export function gatherAdmissions(askAll: AskAdmissions): AskAdmission {
  const turns = { call: createTurn(askAll, 'call'), subscription: createTurn(askAll, 'subscription') };
  return (charge, kind, leaseId) =>
    new Promise((resolve, reject) => {
      turns[kind](charge, { leaseId, resolve, reject });
    });
}

function createTurn(askAll: AskAdmissions, kind: AdmissionKind): (charge: Charge, call: Waiting) => void {
  /** By the charge itself: calls that know the same answer of account share it. */
  let groups = new Map<Charge, Waiting[]>();

  function send(): void {
    const all = groups;
    groups = new Map();
    for (const [charge, group] of all) {
      for (let start = 0; start < group.length; start += MAX_CALLS) {
        void askFor(charge, group.length > MAX_CALLS ? group.slice(start, start + MAX_CALLS) : group);
      }
    }
  }

  async function askFor(charge: Charge, group: readonly Waiting[]): Promise<void> {
    try {
      const answers = await askAll(
        charge,
        kind,
        group.map(({ leaseId }) => leaseId),
      );
      for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (charge, call) => {
    const group = groups.get(charge);
    if (group !== undefined) {
      group.push(call);
      return;
    }
    if (groups.size === 0) atTurnEnd(send);
    groups.set(charge, [call]);
  };
}
