import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import type { ClientChangeOutbox } from '../../access/client-changes/client-change-outbox.ts';
import { endConnection } from '../../access/connections/end.ts';
import { connectionSchema } from '../../access/connections/operations.ts';
import { findTeamConnection, listTeamConnections, lockConnection } from '../../access/connections/store.ts';
import { delivered, id, nextCursor } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { Problem } from '@tollgate/http/problem';
import { allowApplications, lockManagedTeam, noTeam, notManager } from '../changes.ts';
import { findMembership } from '../store.ts';

type Needs = { query: Query; transact: Transact };

const teamConnectionSchema = connectionSchema
  .extend({ account_id: id.meta({ description: 'Of the member.' }), member_name: z.string() })
  .meta({ id: 'TeamConnection' });

export const ownerTeamConnections = {
  title: 'Connected applications of a team',
  description: 'The applications that act for members, whose calls the manager pays. Manager only.',
  operations: [
    operation('GET /api/console/team/connections', {
      operationId: 'listTeamConnections',
      summary: 'List the connected applications of all members, newest first',
      caller: session,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ connections: z.array(teamConnectionSchema), next_cursor: nextCursor }),
        },
      },
      problems: ['forbidden', 'not_found'],
      handle: async ({ query: read }: Needs, { by, query }) => {
        const membership = await findMembership(read, by.account_id);
        if (membership === undefined) throw noTeam();
        if (membership.role !== 'manager') throw notManager();
        const found = await listTeamConnections(read, membership.team_id, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ connection_id }) => connection_id);
        return { connections: rows, next_cursor };
      },
    }),
    operation('DELETE /api/console/team/connections/{connection_id}', {
      operationId: 'endTeamConnection',
      summary: 'Disconnect an application from a member',
      description: 'Its access tokens and refresh tokens stop working, and its open subscriptions end.',
      caller: session,
      params: z.object({ connection_id: idParameter }),
      answers: { 200: { description: 'Disconnected.', schema: z.object({ delivered }) } },
      handle: async (
        { transact, deliver }: Needs & Pick<ClientChangeOutbox, 'deliver'>,
        { by, params: { connection_id: application_id } },
      ) => {
        const pending = await transact(async (inside) => {
          const { team_id } = await lockManagedTeam(inside, by);
          const of = await findTeamConnection(inside, { application_id, team_id });
          const connection = of && (await lockConnection(inside, { application_id, ...of }));
          if (connection === undefined) throw new Problem('not_found');
          return endConnection(inside, connection, 'manager', by.actor);
        });
        return { delivered: await deliver(pending) };
      },
    }),
    operation('PUT /api/console/team/connection-rule', {
      operationId: 'putTeamConnectionRule',
      summary: 'Allow or forbid applications that act for members',
      description:
        'Forbidding it disconnects the applications of all members, the manager’s too. Who joins later is disconnected ' +
        'from theirs.',
      caller: session,
      body: z.strictObject({ allows_applications: z.boolean('must be true or false') }),
      example: { allows_applications: false },
      answers: { 204: { description: 'It holds from now on.' } },
      problems: ['not_found'],
      handle: async ({ transact }: Needs, { by, body: { allows_applications } }) => {
        await transact((inside) => allowApplications(inside, by, allows_applications));
      },
    }),
  ],
} satisfies Chapter;
