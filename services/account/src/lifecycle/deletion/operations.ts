import { operation } from '../../http/operation.ts';
import type { Chapter } from '../../http/operation.ts';
import { callerOf } from '../../http/caller-address.ts';
import { closingSession, session } from '../../identity/sessions/require-session.ts';
import type { Query } from '../../platform/database/query.ts';
import { accountDeletionSchema } from './answers.ts';
import { cancelDeletion, requestDeletion } from './deletion.ts';
import type { DeletionParts } from './deletion.ts';
import { deletionSchema } from './input.ts';
import { findConsequences, findPendingDeletion } from './store.ts';

const STATE = { description: 'The state.', schema: accountDeletionSchema };

export const ownerDeletion = {
  title: 'Account deletion',
  description:
    'Deleting an account. Its credentials end at once; its personal data is erased after a grace in which the owner can sign in and cancel. Meanwhile all other requests of its sessions are `account_deletion_pending`.',
  operations: [
    operation('GET /api/console/account/deletion', {
      operationId: 'getAccountDeletion',
      summary: 'Get whether the account is being deleted, and what a deletion ends',
      caller: closingSession,
      answers: { 200: STATE },
      handle: ({ query, deletionGraceDays }: DeletionParts, { by }) =>
        deletionAnswer(query, by.account_id, deletionGraceDays),
    }),
    operation('POST /api/console/account/deletion', {
      operationId: 'requestAccountDeletion',
      summary: 'Delete the account',
      description:
        'Revokes all applications and tokens, disables webhooks, leaves the team, ends other sessions and plans the end of the subscription.',
      caller: session,
      body: deletionSchema,
      example: { email: 'ada@example.com', current_password: 'correct horse battery staple' },
      answers: { 202: STATE },
      problems: ['team_has_members', 'too_many_requests'],
      handle: async (needs: DeletionParts, { by, body, req, res }) => {
        await requestDeletion(needs, by, body, callerOf(req, res));
        return deletionAnswer(needs.query, by.account_id, needs.deletionGraceDays);
      },
    }),
    operation('DELETE /api/console/account/deletion', {
      operationId: 'cancelAccountDeletion',
      summary: 'Cancel the deletion',
      description:
        'The account works again. Revoked applications and tokens stay revoked. Not possible once it is due.',
      caller: closingSession,
      answers: { 204: { description: 'The account is not deleted.' } },
      problems: ['not_found'],
      handle: (needs: DeletionParts, { by }) => cancelDeletion(needs, by),
    }),
  ],
} satisfies Chapter;

async function deletionAnswer(query: Query, accountId: number, graceDays: number) {
  const pending = await findPendingDeletion(query, accountId);
  const { team_name, team_role, team_members, ...ended } = await findConsequences(query, accountId);
  const team =
    team_name === null || team_role === null
      ? null
      : { name: team_name, role: team_role, members: team_members };
  return {
    state: pending === undefined ? ('none' as const) : ('pending' as const),
    requested_at: pending?.deletion_requested_at ?? null,
    due_at: pending?.deletion_due_at ?? null,
    grace_days: graceDays,
    consequences: { ...ended, team },
  };
}
