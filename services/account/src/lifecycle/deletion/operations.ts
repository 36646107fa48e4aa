import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { findHoldings } from '../../billing/credits/holdings.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { callerOf } from '../../http/caller-address.ts';
import { closingSession, session } from '../../identity/sessions/require-session.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { ofAccount, operatedAccountSchema } from '../../identity/accounts/operations.ts';
import { findOperatedAccount } from '../../identity/accounts/operator-store.ts';
import type { OperatedAccount } from '../../identity/accounts/operator-store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { accountDeletionSchema, operatedDeletionSchema } from './answers.ts';
import { cancelDeletion, requestDeletion, restoreAccount } from './deletion.ts';
import { eraseDue } from './erase.ts';
import { deletionSchema } from './input.ts';
import { findConsequences, findPendingDeletion, makeDue } from './store.ts';

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
      handle: (needs: StateNeeds, { by }) => deletionAnswer(needs, by.account_id),
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
      handle: async (needs: Parameters<typeof requestDeletion>[0] & StateNeeds, { by, body, req, res }) => {
        await requestDeletion(needs, by, body, callerOf(req, res));
        return deletionAnswer(needs, by.account_id);
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
      handle: (needs: Parameters<typeof cancelDeletion>[0], { by }) => cancelDeletion(needs, by),
    }),
  ],
} satisfies Chapter;

/** Operators can't request a deletion. */
export const operatorDeletion = {
  title: 'Account deletion',
  description: 'Deletions that owners have requested.',
  operations: [
    operation('GET /private/accounts/{account_id}/deletion', {
      operationId: 'getAccountDeletion',
      summary: 'Get the deletion of an account, and what it ends',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      answers: { 200: { description: 'The state.', schema: operatedDeletionSchema } },
      handle: async ({ query, redisNowMs }: LookUpNeeds, { params }) => {
        const account = await foundAccount(query, params.account_id);
        const { account_id, deletion_due_at, erased_at } = account;
        const pending = await findPendingDeletion(query, account_id);
        return {
          account_id,
          requested_at: pending?.deletion_requested_at ?? null,
          due_at: deletion_due_at,
          erased_at,
          consequences: {
            ...(await findConsequences(query, account_id)),
            credits: await lostCredits(query, account_id, redisNowMs()),
          },
        };
      },
    }),
    operation('POST /private/accounts/{account_id}/deletion/cancel', {
      operationId: 'cancelAccountDeletion',
      summary: 'Cancel the deletion of an account',
      description: '`not_found` if none is pending, or once it is due.',
      caller: operator,
      roles: ['support'],
      params: ofAccount,
      answers: { 200: { description: 'The account.', schema: operatedAccountSchema } },
      handle: ({ transact }: { transact: Transact }, { by: { actor }, params: { account_id } }) =>
        transact(async (inside) => {
          await restoreAccount(inside, { account_id, actor });
          return foundAccount(inside, account_id);
        }),
    }),
    operation('POST /private/accounts/{account_id}/deletion/carry-out', {
      operationId: 'carryOutAccountDeletion',
      summary: 'Erase an account whose deletion is pending, without its grace',
      description:
        'If the erasure takes too long, returns `service_unavailable`; it is repeated at the next interval, as it is due. ' +
        'An account with a subscription that is paid through Stripe is erased once Stripe has ended it: `erased_at` is ' +
        'null until then.',
      caller: operator,
      roles: ['admin'],
      needsReason: true,
      params: ofAccount,
      answers: { 200: { description: 'The account.', schema: operatedAccountSchema } },
      handle: async (
        { transact, checks, lockInstant }: CarryOutNeeds,
        { by: { actor }, params: { account_id } },
      ) => {
        await transact(async (inside) => {
          const account = await lockAccount(inside, account_id);
          if (account === undefined || account.deletion_due_at === null) {
            throw new Problem('not_found', { detail: 'The account is not being deleted.' });
          }
          const deletion_due_at = await makeDue(inside, account_id);
          const change = changeOf(['deletion_due_at'], account, { deletion_due_at });
          const entry = { ...actor, application_id: null, account_id, details: {}, change };
          await recordAudit(inside, { ...entry, action: 'account_deletion_carried_out' });
        });
        return checks.transact(async (inside) => {
          await eraseDue(inside, lockInstant, account_id);
          return foundAccount(inside, account_id);
        });
      },
    }),
  ],
} satisfies Chapter;

/** `checks` has a longer timeout. */
type CarryOutNeeds = { transact: Transact; checks: { transact: Transact }; lockInstant: LockInstant };

async function foundAccount(query: Query, accountId: number): Promise<OperatedAccount> {
  const account = await findOperatedAccount(query, accountId);
  if (account === undefined) throw new Problem('not_found');
  return account;
}

type LookUpNeeds = { query: Query; redisNowMs: () => number };

type StateNeeds = LookUpNeeds & { deletionGraceDays: number };

async function deletionAnswer({ query, redisNowMs, deletionGraceDays }: StateNeeds, accountId: number) {
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
    grace_days: deletionGraceDays,
    consequences: { ...ended, team, credits: await lostCredits(query, accountId, redisNowMs()) },
  };
}

async function lostCredits(query: Query, accountId: number, nowMs: number) {
  const { credits } = await findHoldings(query, accountId, nowMs);
  return credits.map(({ credit_id, source, points_remaining, expires_at }) => ({
    credit_id,
    source,
    points_remaining,
    expires_at,
  }));
}
