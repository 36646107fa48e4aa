import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { idField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { nameSchema } from '../../http/input/name.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import { addMember, createTeamOf, expelMember, removeTeam } from './operator-changes.ts';
import { findTeam, listMembers, listTeams } from './operator-store.ts';

/** Errors as of plans, and 409 `already_in_team`, `team_slots_limit_exceeded`. The manager pays. */

const newTeamSchema = z.strictObject({ account_id: idField, name: nameSchema });
const newMemberSchema = z.strictObject({ account_id: idField });
const listSchema = z.strictObject(pageFields);

/** `GET /private/teams?limit=50&cursor=…`: 200 `{teams, next_cursor}`, newest first. */
export function teamsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const page = queryOf(req, listSchema);
    const { rows, next_cursor } = cutPage(
      await listTeams(query, lookAhead(page)),
      page,
      ({ team_id }) => team_id,
    );
    res.json({ teams: rows, next_cursor });
  };
}

/** `POST /private/teams` with `{account_id, name}`: 201; the account is its manager. */
export function newTeamEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newTeamSchema);
    const team = await transact(async (inside) =>
      teamAnswer(inside, await createTeamOf(inside, wanted, operatorOf(req, res))),
    );
    res
      .status(201)
      .location(`/private/teams/${String(team.team_id)}`)
      .json(team);
  };
}

/** `GET /private/teams/{team_id}`: 200. */
export function operatedTeamEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    res.json(await teamAnswer(query, idOf(req, 'team_id')));
  };
}

/** `DELETE /private/teams/{team_id}`: 204. The members pay for themselves from the next call on. */
export function deleteTeamEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'team_id');
    await transact((inside) => removeTeam(inside, id, operatorOf(req, res)));
    res.status(204).end();
  };
}

/** `POST /private/teams/{team_id}/members` with `{account_id}`: 201, the team. Needs no consent. */
export function newMemberEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, { account_id }] = [idOf(req, 'team_id'), bodyOf(req, newMemberSchema)];
    const team = await transact(async (inside) => {
      await addMember(inside, id, account_id, operatorOf(req, res));
      return teamAnswer(inside, id);
    });
    res.status(201).json(team);
  };
}

/** `DELETE /private/teams/{team_id}/members/{account_id}`: 204. The manager can't be removed. */
export function expelMemberEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, accountId] = [idOf(req, 'team_id'), idOf(req, 'account_id')];
    await transact((inside) => expelMember(inside, id, accountId, operatorOf(req, res)));
    res.status(204).end();
  };
}

async function teamAnswer(query: Query, teamId: number) {
  const team = await findTeam(query, teamId);
  if (team === undefined) throw new Problem('not_found');
  return { ...team, members: await listMembers(query, teamId) };
}
