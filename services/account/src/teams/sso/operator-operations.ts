import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { providerAnswerSchema } from './answers.ts';
import { found, liftRequiredSso } from './changes.ts';
import { shownProvider } from './operations.ts';
import { findProvider } from './store.ts';

const ofTeam = z.object({ team_id: idParameter });

export const operatorSso = {
  title: 'Single sign-on of teams',
  description: 'For a team whose identity provider lets no one in.',
  operations: [
    operation('GET /private/teams/{team_id}/sso', {
      operationId: 'getTeamSso',
      summary: "Get a team's identity provider",
      description: 'Returns `not_found` without one. The secret is shown to no one.',
      caller: operator,
      roles: ['viewer'],
      params: ofTeam,
      answers: { 200: { description: 'The identity provider.', schema: providerAnswerSchema } },
      handle: async ({ query }: { query: Query }, { params: { team_id } }) =>
        shownProvider(found(await findProvider(query, team_id))),
    }),
    operation('DELETE /private/teams/{team_id}/sso/requirement', {
      operationId: 'liftTeamSso',
      summary: 'Lift the requirement of single sign-on',
      description:
        'Members can sign in with their passwords again, and reset them by mail. Tells the manager by mail. Safe to repeat.',
      caller: operator,
      roles: ['support'],
      needsReason: true,
      params: ofTeam,
      answers: { 200: { description: 'The identity provider.', schema: providerAnswerSchema } },
      handle: async (
        { query, transact, wakeMails }: { query: Query; transact: Transact; wakeMails: () => void },
        { by, params: { team_id } },
      ) => {
        await transact((inside) => liftRequiredSso(inside, team_id, by.actor));
        wakeMails();
        return shownProvider(found(await findProvider(query, team_id)));
      },
    }),
  ],
} satisfies Chapter;
