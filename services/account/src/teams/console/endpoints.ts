import type { Request, RequestHandler, Response } from 'express';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query } from '../../platform/database/query.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import type { PeopleParts } from '../../identity/people/people.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { createTeam, dissolveTeam, handOver, leaveTeam, removeMember, renameTeam } from '../changes.ts';
import type { Person } from '../changes.ts';
import { handOverSchema, teamSchema } from './input.ts';
import { teamView } from './team-view.ts';

/**
 * Errors: 400 `invalid_request`; 404 `not_found` without a team, or for a non-member; 403 `forbidden` for
 * what only the manager may do; 503 if Postgres is unavailable.
 */

export type TeamParts = Pick<PeopleParts, 'query' | 'transact' | 'wakeMails'>;

/**
 * `GET /api/console/team`: 200 with `slots` (pending invitations included) and `members`. Only the manager
 * gets `invitations`, `former_members_usage` and each member's `usage` (null without a current period).
 */
export function teamEndpoint({ query }: TeamParts): RequestHandler {
  return (_req, res) => sendTeam(query, res);
}

/** `POST /api/console/team` with `{name}`: 201, the account's new team. 409 `already_in_team`. */
export function createTeamEndpoint({ query, transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { name } = bodyOf(req, teamSchema);
    await transact((inside) => createTeam(inside, personOf(res), name));
    await sendTeam(query, res.status(201));
  };
}

/** `PATCH /api/console/team` with `{name}`, for the manager: 200, the team. */
export function renameTeamEndpoint({ query, transact }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { name } = bodyOf(req, teamSchema);
    await transact((inside) => renameTeam(inside, personOf(res), name));
    await sendTeam(query, res);
  };
}

/** `DELETE /api/console/team`, for the manager: 204. Ends all memberships and invitations. */
export function dissolveTeamEndpoint({ transact }: TeamParts): RequestHandler {
  return ending(transact, (inside, person) => dissolveTeam(inside, person));
}

/** `DELETE /api/console/team/members/{account_id}`, for the manager, who can't be removed: 204. */
export function removeMemberEndpoint({ transact }: TeamParts): RequestHandler {
  return ending(transact, (inside, person, req) => removeMember(inside, person, idOf(req, 'account_id')));
}

/** `POST /api/console/team/leave`, without a body: 204. 409 `team_has_members` for the manager of others. */
export function leaveTeamEndpoint({ transact }: TeamParts): RequestHandler {
  return ending(transact, (inside, person) => leaveTeam(inside, person));
}

/**
 * `POST /api/console/team/hand-over` with a member's `{account_id}`: 200, the team, and `warning`, null
 * unless the new payer's period lets no calls pass.
 */
export function handOverEndpoint({ query, transact, wakeMails }: TeamParts): RequestHandler {
  return async (req, res) => {
    const { account_id } = bodyOf(req, handOverSchema);
    await transact((inside) => handOver(inside, personOf(res), account_id));
    wakeMails();
    const team = await teamView(query, signedIn(res).account_id);
    const isPaid = team.billing_status === 'active' || team.billing_status === 'grace';
    const warning = isPaid
      ? null
      : 'The new manager has no active billing period, so the team cannot make calls.';
    res.json({ ...team, warning });
  };
}

export function personOf(res: Response): Person {
  const { account_id, actor } = signedIn(res);
  return { account_id, actor };
}

function ending(
  transact: TeamParts['transact'],
  change: (query: Query, person: Person, req: Request) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    await transact((inside) => change(inside, personOf(res), req));
    res.status(204).end();
  };
}

async function sendTeam(query: Query, res: Response): Promise<void> {
  res.json(await teamView(query, signedIn(res).account_id));
}
