import type { RequestHandler } from 'express';
import { callerOf } from '../../http/caller-address.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import type { Query } from '../../platform/database/query.ts';
import { cancelDeletion, requestDeletion } from './deletion.ts';
import type { DeletionParts } from './deletion.ts';
import { deletionSchema } from './input.ts';
import { findConsequences, findPendingDeletion } from './store.ts';

/** `/api/console/account/deletion`, also for an account that is being deleted. All: 503 while Postgres is unavailable. */

/** `GET`: 200, whether the account is being deleted and what a deletion ends. */
export function deletionEndpoint(parts: DeletionParts): RequestHandler {
  return async (_req, res) => {
    res.json(await deletionAnswer(parts.query, signedIn(res).account_id, parts.deletionGraceDays));
  };
}

/**
 * `POST` with `{email, current_password}`: 202, the pending deletion. Ends all credentials and other sessions. 400
 * `invalid_request`; 403 `account_deletion_pending` if requested before; 409 `team_has_members`; 429.
 */
export function requestDeletionEndpoint(parts: DeletionParts): RequestHandler {
  return async (req, res) => {
    const by = signedIn(res);
    await requestDeletion(parts, by, bodyOf(req, deletionSchema), callerOf(req, res));
    res.status(202).json(await deletionAnswer(parts.query, by.account_id, parts.deletionGraceDays));
  };
}

/** `DELETE`: cancels. 204; 404 `not_found` if nothing is pending, or once it is due. */
export function cancelDeletionEndpoint(parts: DeletionParts): RequestHandler {
  return async (_req, res) => {
    await cancelDeletion(parts, signedIn(res));
    res.status(204).end();
  };
}

async function deletionAnswer(query: Query, accountId: number, graceDays: number) {
  const pending = await findPendingDeletion(query, accountId);
  const { team_name, team_role, team_members, ...ended } = await findConsequences(query, accountId);
  const team =
    team_name === null || team_role === null
      ? null
      : { name: team_name, role: team_role, members: team_members };
  return {
    state: pending === undefined ? 'none' : 'pending',
    requested_at: pending?.deletion_requested_at ?? null,
    due_at: pending?.deletion_due_at ?? null,
    grace_days: graceDays,
    consequences: { ...ended, team },
  };
}
