import type { Request, Response } from 'express';
import { z } from 'zod';
import { roleSuffices } from '@tollgate/contracts/operator-roles';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter, Operation } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { noteOperator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { signedInOperator } from '../require-operator-session.ts';
import type { SignedInOperator } from '../require-operator-session.ts';
import { actAnswer, pendingActSchema } from './answers.ts';
import { noteConfirmed } from './hold.ts';
import type { FourEyesNeeds } from './hold.ts';
import { areSamePerson, findAct, listActs, takeAct } from './store.ts';
import type { PendingAct } from './store.ts';

const ofAct = z.object({ act_id: idParameter });

/** `held`: the operations that may wait, as they run without waiting or with `noteConfirmed`. */
export function pendingActs<Needs extends FourEyesNeeds>(held: readonly Operation<Needs>[]) {
  const byId = new Map(held.map((one) => [one.operationId, one]));
  return {
    title: 'Second operator',
    description:
      'What one operator asks for and another one must confirm, within 24 hours (`FOUR_EYES`). Who confirms needs the role of what is confirmed.',
    operations: [
      operation('GET /operator/api/pending-acts', {
        operationId: 'listPendingActs',
        summary: 'List what waits for a second operator, newest first',
        caller: signedInOperator,
        roles: ['viewer'],
        answers: {
          200: {
            description: 'At most 100.',
            schema: z.object({ acts: z.array(pendingActSchema) }),
          },
        },
        handle: async ({ query }: { query: Query }, { by }) => {
          const { operator_id } = by.session;
          return { acts: (await listActs(query)).map((act) => actAnswer(act, operator_id)) };
        },
      }),
      operation('POST /operator/api/pending-acts/{act_id}/confirm', {
        operationId: 'confirmPendingAct',
        summary: 'Confirm what another operator asks for',
        description:
          'Carries it out as your request; the audit log has both names. What has changed since is `act_outdated`, and must be asked for again.',
        caller: signedInOperator,
        roles: ['support', 'finance'],
        params: ofAct,
        answers: { 200: { description: 'What the confirmed operation answers, with its status.' } },
        problems: ['own_act', 'act_outdated'],
        respond: async (needs: Needs, { by, params: { act_id }, req, res }) => {
          const decided = await decidedOn(needs.query, by, act_id);
          if (await areSamePerson(needs.query, by.session.operator_id, decided.act.requested_by)) {
            throw new Problem('own_act');
          }
          await carryOut(needs, { ...decided, by, req, res });
        },
      }),
      operation('DELETE /operator/api/pending-acts/{act_id}', {
        operationId: 'declinePendingAct',
        summary: 'Decline what another operator asks for, or withdraw what you asked for',
        caller: signedInOperator,
        roles: ['support', 'finance'],
        params: ofAct,
        answers: { 204: { description: 'It no longer waits.' } },
        handle: async ({ query, transact }: FourEyesNeeds, { by, params: { act_id } }) => {
          const { act } = await decidedOn(query, by, act_id);
          const { account_id, operation_id, person } = act;
          await transact(async (inside) => {
            if ((await takeAct(inside, act_id)) === undefined) throw new Problem('not_found');
            await recordAudit(inside, {
              ...by.actor,
              application_id: null,
              account_id,
              action: 'operator_act_declined',
              details: { act_id, operation: operation_id, requested_by: person },
              change: changeOf(['act_id', 'operation_id'], act, null),
            });
          });
        },
      }),
    ],
  } satisfies Chapter;

  /** @throws {Problem} not_found; insufficient_role */
  async function decidedOn(query: Query, { role }: SignedInOperator, actId: number): Promise<Decided<Needs>> {
    const act = await findAct(query, actId);
    const held = act === undefined ? undefined : byId.get(act.operation_id);
    if (act === undefined || held === undefined) throw new Problem('not_found');
    const { roles = [] } = held;
    if (!roleSuffices(role, roles))
      throw new Problem('insufficient_role', { extensions: { roles: [...roles] } });
    return { act, held };
  }
}

type Decided<Needs> = { act: PendingAct; held: Operation<Needs> };

/** As the request of the one who confirms, in the transaction that takes what waits: both happen, or neither. */
async function carryOut<Needs extends FourEyesNeeds>(
  needs: Needs,
  { act, held, by, req, res }: Decided<Needs> & { by: SignedInOperator; req: Request; res: Response },
): Promise<void> {
  const { request, requested_by: operator_id, person, reason } = act;
  const { actor } = by;
  noteOperator(res, {
    ...by,
    actor: { ...actor, requested_by: { operator_id, ...person }, ...(reason === null ? {} : { reason }) },
  });
  noteConfirmed(res);
  req.params = { ...request.params };
  req.body = request.body ?? undefined;
  Object.assign(req.headers, request.headers);
  const taking = { ...needs, transact: takingFirst(needs.transact, act.act_id) };
  await held.run(taking, req, res, { checkAnswers: false, readForm: noForm });
}

function noForm(): never {
  throw new Error('no operation with a form waits for a second operator');
}

/** The first transaction takes the act. @throws {Problem} not_found; act_outdated */
function takingFirst(transact: Transact, actId: number): Transact {
  let isTaken = false;
  return async (work) => {
    const result = await transact(async (inside) => {
      if (!isTaken) {
        const taken = await takeAct(inside, actId);
        if (taken === undefined) throw new Problem('not_found');
        if (!taken.isUnchanged) throw new Problem('act_outdated');
      }
      return work(inside);
    });
    isTaken = true;
    return result;
  };
}
