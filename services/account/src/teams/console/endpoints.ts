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
 * The team of who is signed in, at `/api/console/team`. Faulty members of a body: 400 `invalid_request` that names
 * them all. 404 `not_found` for who is in no team, and for a member that isn't in it; 403 `forbidden` for a member
 * where only the manager may; 503 while Postgres is away. Who pays for whose calls changes with the next call.
 */

export type TeamParts = Pick<PeopleParts, 'query' | 'transact' | 'wakeMails'>;

/**
 * `GET /api/console/team`: 200 `{team_id, name, created_at, role, payer_id, billing_status, slots: {used, limit},
 * members: [{account_id, name, email, role, joined_at}]}`. `role` is one's own, `manager` or `member`;
 * `billing_status` the status that the team's calls have, or `none`; `slots.used` counts members and pending
 * invitations, `slots.limit` is null where the plan has none. To the manager also each member's `usage` in the
 * current period (`points_usage, requests_usage, time_sec_usage, traffic_bytes_usage`; null without a period),
 * `former_members_usage` and `invitations: [{invitation_id, email, created_at, expires_at}]`.
 */
export function teamEndpoint({ query }: TeamParts): RequestHandler {
  return (_req, res) => sendTeam(query, res);
}

/** `POST /api/console/team` with `{name}`: 201, the team; one manages it. 409 `already_in_team`. */
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

/** `DELETE /api/console/team`, for the manager: 204; all memberships and invitations end. */
export function dissolveTeamEndpoint({ transact }: TeamParts): RequestHandler {
  return ending(transact, (inside, person) => dissolveTeam(inside, person));
}

/** `DELETE /api/console/team/members/{account_id}`, for the manager: 204. The manager is no member to remove. */
export function removeMemberEndpoint({ transact }: TeamParts): RequestHandler {
  return ending(transact, (inside, person, req) => removeMember(inside, person, idOf(req, 'account_id')));
}

/**
 * `POST /api/console/team/leave`, without a body: 204. 409 `team_has_members` for the manager of others; one who is
 * alone ends the team.
 */
export function leaveTeamEndpoint({ transact }: TeamParts): RequestHandler {
  return ending(transact, (inside, person) => leaveTeam(inside, person));
}

/**
 * `POST /api/console/team/hand-over` with `{account_id}` of a member, who is manager and payer from now on, while one
 * becomes a member: 200, the team, and `warning`, null or that the new payer's period lets no calls pass.
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
      : 'The new manager has no active billing period: the team can make no calls.';
    res.json({ ...team, warning });
  };
}

/** Who is signed in, as the changes of a team know them. */
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
