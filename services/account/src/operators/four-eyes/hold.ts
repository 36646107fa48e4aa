import type { Request, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { serviceCallerId } from '@tollgate/http/private-api-credential';
import type { Chapter, Operation } from '@tollgate/operation';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { signedInOf } from '../require-operator-session.ts';
import type { OperatorSite } from '../settings.ts';
import { ACTS } from './acts.ts';
import { actAnswer } from './answers.ts';
import type { FourEyesSettings } from './settings.ts';
import { areTwo, insertAct } from './store.ts';

export type FourEyesNeeds = {
  query: Query;
  transact: Transact;
  operatorSite: OperatorSite;
  fourEyes: FourEyesSettings;
};

const confirmed = new WeakSet<Response>();

/** From here on, the request is the confirmation, and runs what it confirms. */
export function noteConfirmed(res: Response): void {
  confirmed.add(res);
}

/**
 * Has operations that need a second operator wait for one: a session gets 202 with what waits, a credential
 * `second_operator_required`.
 */
export function withFourEyes<Chapters extends readonly Chapter[]>(chapters: Chapters): Chapters {
  const held = chapters.map((chapter) => ({
    ...chapter,
    operations: (chapter.operations as readonly Operation<FourEyesNeeds>[]).map((one) =>
      one.operationId in ACTS ? heldOperation(one) : one,
    ),
  }));
  return held as readonly Chapter[] as Chapters;
}

function heldOperation(operation: Operation<FourEyesNeeds>): Operation<FourEyesNeeds> {
  return {
    ...operation,
    problems: [...(operation.problems ?? []), 'second_operator_required'],
    run: async (needs, req, res, options) => {
      if (confirmed.has(res) || !(await isNeeded(needs, operation, req, res))) {
        await operation.run(needs, req, res, options);
        return;
      }
      const act = await ask(needs, operation, req, res);
      res.status(202).json(act);
    },
  };
}

async function isNeeded(
  { query, fourEyes, operatorSite }: FourEyesNeeds,
  { operationId }: Operation<FourEyesNeeds>,
  req: Request,
  res: Response,
): Promise<boolean> {
  const { mode, exempt } = fourEyes;
  if (mode === 'false') return false;
  if (signedInOf(res) === undefined && exempt.has(serviceCallerId(res))) return false;
  const act = ACTS[operationId];
  if (act === undefined) return false;
  // Those whom an identity provider may let in are not known here.
  const isOn = mode === 'true' || operatorSite.issuer !== undefined || (await areTwo(query));
  if (!isOn) return false;
  return act.isNeeded === undefined || act.isNeeded(act.read(req), fourEyes, query);
}

/** A second operator must be able to read all of it, and a hundred may wait. */
const MAX_BODY_CHARACTERS = 20_000;

/** @throws {Problem} second_operator_required, for credentials; payload_too_large */
async function ask(
  { transact }: FourEyesNeeds,
  { operationId: operation_id }: Operation<FourEyesNeeds>,
  req: Request,
  res: Response,
) {
  const session = signedInOf(res);
  const act = ACTS[operation_id];
  if (session === undefined || act === undefined) throw new Problem('second_operator_required');
  const { actor } = operator.of(req, res);
  const { operator_id, name, issuer } = session.session;
  const asked = act.read(req);
  if (JSON.stringify(asked.request.body).length > MAX_BODY_CHARACTERS) {
    throw new Problem('payload_too_large', {
      detail: `What a second operator must confirm has at most ${String(MAX_BODY_CHARACTERS)} characters. Send the changes that need one by themselves.`,
    });
  }
  return transact(async (inside) => {
    const pending = await insertAct(inside, {
      ...asked,
      operation_id,
      requested_by: operator_id,
      person: { name, issuer },
      reason: actor.reason,
    });
    const { act_id, account_id } = pending;
    await recordAudit(inside, {
      ...actor,
      application_id: null,
      account_id,
      action: 'operator_act_requested',
      details: { act_id, operation: operation_id },
      change: changeOf(['act_id', 'operation_id'], null, { act_id, operation_id }),
    });
    return actAnswer(pending, operator_id);
  });
}
