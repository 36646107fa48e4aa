import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { nameSchema } from '../../http/input/name.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { memberRoleSchema } from '../../identity/accounts/member-roles.ts';
import { addMember, createTeamOf, expelAnyMember, removeTeam } from './operator-changes.ts';
import { findTeam, listMembers, listTeams } from './operator-store.ts';

type Needs = { query: Query; transact: Transact };

const listedSchema = z.object({
  team_id: id,
  name: z.string(),
  created_at: instant,
  manager_id: id,
  members_count: z.int().min(1).meta({ description: 'Includes the manager.' }),
});

const teamSchema = listedSchema
  .extend({
    members: z.array(
      z.object({
        account_id: id,
        name: z.string(),
        email: z.string(),
        role: z.enum(['manager', 'member']),
        member_role: memberRoleSchema.nullable().meta({ description: 'Null for the manager.' }),
        joined_at: instant,
      }),
    ),
  })
  .meta({ id: 'OperatedTeam' });

const TEAM = { description: 'The team.', schema: teamSchema };

const ofTeam = z.object({ team_id: idParameter });

export const operatorTeams = {
  title: 'Teams',
  description: 'Teams, of which the manager pays.',
  operations: [
    operation('GET /private/teams', {
      operationId: 'listTeams',
      summary: 'List teams, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ teams: z.array(listedSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const found = await listTeams(read, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ team_id }) => team_id);
        return { teams: rows, next_cursor };
      },
    }),
    operation('POST /private/teams', {
      operationId: 'createTeam',
      summary: 'Create a team',
      description: 'The account is its manager.',
      caller: operator,
      roles: ['admin'],
      body: z.strictObject({ account_id: idField, name: nameSchema }),
      example: { account_id: 42, name: 'Data desk' },
      answers: { 201: { ...TEAM, headers: { Location: 'Path of the team.' } } },
      problems: ['already_in_team', 'not_found'],
      handle: async ({ transact }: Needs, { by, body }) => {
        const team = await transact(async (inside) =>
          teamAnswer(inside, await createTeamOf(inside, body, by.actor)),
        );
        return new Reply(201, team, { location: `/private/teams/${String(team.team_id)}` });
      },
    }),
    operation('GET /private/teams/{team_id}', {
      operationId: 'getTeam',
      summary: 'Get a team',
      caller: operator,
      roles: ['viewer'],
      params: ofTeam,
      answers: { 200: TEAM },
      handle: ({ query }: Needs, { params: { team_id } }) => teamAnswer(query, team_id),
    }),
    operation('DELETE /private/teams/{team_id}', {
      operationId: 'deleteTeam',
      summary: 'Delete a team',
      description: 'The members pay for themselves from the next call on.',
      caller: operator,
      roles: ['admin'],
      params: ofTeam,
      answers: { 204: { description: 'Deleted.' } },
      handle: async ({ transact }: Needs, { by, params: { team_id } }) => {
        await transact((inside) => removeTeam(inside, team_id, by.actor));
      },
    }),
    operation('POST /private/teams/{team_id}/members', {
      operationId: 'addTeamMember',
      summary: 'Add a member to a team',
      description: 'Needs no consent.',
      caller: operator,
      roles: ['admin'],
      params: ofTeam,
      body: z.strictObject({ account_id: idField }),
      example: { account_id: 43 },
      answers: { 201: TEAM },
      problems: ['already_in_team', 'team_slots_limit_exceeded'],
      handle: ({ transact }: Needs, { by, params: { team_id }, body: { account_id } }) =>
        transact(async (inside) => {
          await addMember(inside, team_id, account_id, by.actor);
          return teamAnswer(inside, team_id);
        }),
    }),
    operation('DELETE /private/teams/{team_id}/members/{account_id}', {
      operationId: 'removeTeamMember',
      summary: 'Remove a member from a team',
      description: 'The manager cannot be removed.',
      caller: operator,
      roles: ['admin'],
      params: ofTeam.extend({ account_id: idParameter }),
      answers: { 204: { description: 'Removed.' } },
      handle: async ({ transact }: Needs, { by, params: { team_id, account_id } }) => {
        await transact((inside) => expelAnyMember(inside, team_id, account_id, by.actor));
      },
    }),
  ],
} satisfies Chapter;

async function teamAnswer(query: Query, teamId: number) {
  const team = await findTeam(query, teamId);
  if (team === undefined) throw new Problem('not_found');
  return { ...team, members: await listMembers(query, teamId) };
}
