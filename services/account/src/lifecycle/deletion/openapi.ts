import type { ApiChapter } from '../../http/operation.ts';
import { accountDeletionSchema } from './answers.ts';
import { deletionSchema } from './input.ts';

const STATE = { description: 'The state.', schema: accountDeletionSchema };

export const deletionApi: ApiChapter = {
  title: 'Account deletion',
  description:
    'Deleting an account. Its credentials end at once; its personal data is erased after a grace in which the owner can sign in and cancel. Meanwhile all other requests of its sessions are `account_deletion_pending`.',
  operations: {
    'GET /api/console/account/deletion': {
      operationId: 'getAccountDeletion',
      summary: 'Get whether the account is being deleted, and what a deletion ends',
      caller: 'session',
      answers: { 200: STATE },
    },
    'POST /api/console/account/deletion': {
      operationId: 'requestAccountDeletion',
      summary: 'Delete the account',
      description:
        'Revokes all applications and tokens, disables webhooks, leaves the team, ends other sessions and plans the end of the subscription.',
      caller: 'session',
      body: deletionSchema,
      example: { email: 'ada@example.com', current_password: 'correct horse battery staple' },
      answers: { 202: STATE },
      problems: ['team_has_members', 'too_many_requests'],
    },
    'DELETE /api/console/account/deletion': {
      operationId: 'cancelAccountDeletion',
      summary: 'Cancel the deletion',
      description:
        'The account works again. Revoked applications and tokens stay revoked. Not possible once it is due.',
      caller: 'session',
      answers: { 204: { description: 'The account is not deleted.' } },
      problems: ['not_found'],
    },
  },
};
