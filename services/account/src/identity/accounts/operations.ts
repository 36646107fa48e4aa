import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { booleanQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { nameSchema } from '../../http/input/name.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { emailField } from './input.ts';
import { createAccount, findOperatedAccount, listAccounts, setAccountBlocked } from './operator-store.ts';

type Needs = { query: Query; transact: Transact };

export const operatedAccountSchema = z
  .object({
    account_id: id,
    email: z.string(),
    name: z.string(),
    email_verified_at: instant.nullable(),
    blocked_at: instant.nullable(),
    deletion_due_at: instant
      .nullable()
      .meta({ description: 'When the account is erased, if its owner is deleting it.' }),
    erased_at: instant.nullable(),
    created_at: instant,
  })
  .meta({ id: 'OperatedAccount' });

const summarySchema = z.object({
  team: z.object({ team_id: id, name: z.string(), role: z.enum(['manager', 'member']) }).nullable(),
  payer_id: id,
  subscription_id: id.nullable().meta({ description: "The account's own subscription, if one is live." }),
  status: z.enum(['active', 'grace', 'blocked', 'expired', 'none']).meta({
    description: 'As `GET /api/usage` shows it; `none` without a billing period.',
  }),
  billing_period: z
    .object({ period_id: id, plan_name: z.string(), started_at: instant, ended_at: instant })
    .nullable()
    .meta({ description: "The payer's." }),
  payment_blocks: z
    .array(
      z.object({
        reason: z.enum(['renewal', 'dispute']),
        period_id: id
          .nullable()
          .meta({ description: 'The billing period that is not paid; null for a dispute.' }),
        dispute_id: z.string().nullable().meta({ description: 'At Stripe; null for a renewal.' }),
        since: instant,
        grace_at: instant.meta({ description: 'From when on the status is `grace`.' }),
        blocks_at: instant.meta({ description: 'From when on calls are refused.' }),
      }),
    )
    .meta({
      description:
        "The account's own payments that are due or disputed. `blocked_at` is an operator's block.",
    }),
});

const ACCOUNT = { description: 'The account.', schema: operatedAccountSchema };

export const ofAccount = z.object({ account_id: idParameter });

export const operatorAccounts = {
  title: 'Accounts',
  description: 'All accounts, and what operators may do with one.',
  operations: [
    operation('GET /private/accounts', {
      operationId: 'listAccounts',
      summary: 'List accounts, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        email: emailField.optional(),
        blocked: booleanQueryField.optional(),
        deleting: booleanQueryField.optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ accounts: z.array(operatedAccountSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const found = await listAccounts(read, query, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ account_id }) => account_id);
        return { accounts: rows, next_cursor };
      },
    }),
    operation('POST /private/accounts', {
      operationId: 'createAccount',
      summary: 'Create an account',
      description: 'The owner sets a password by a password reset.',
      caller: operator,
      roles: ['admin'],
      body: z.strictObject({ email: emailField, name: nameSchema }),
      example: { email: 'ada@example.com', name: 'Ada' },
      answers: { 201: { ...ACCOUNT, headers: { Location: 'Path of the account.' } } },
      problems: ['email_taken'],
      handle: async ({ transact }: Needs, { by, body }) => {
        const account = await transact((inside) => createAccount(inside, body, by.actor));
        return new Reply(201, account, { location: `/private/accounts/${String(account.account_id)}` });
      },
    }),
    operation('GET /private/accounts/{account_id}', {
      operationId: 'getAccount',
      summary: 'Get an account, with its team, payer, subscription, status and billing period',
      caller: operator,
      roles: ['viewer'],
      params: ofAccount,
      answers: {
        200: {
          description: 'The account.',
          schema: operatedAccountSchema.extend(summarySchema.shape).meta({ id: 'AccountSummary' }),
        },
      },
      handle: async ({ query, summarizeAccount }: SummaryNeeds, { params: { account_id } }) => {
        const account = await findOperatedAccount(query, account_id);
        const summary = account === undefined ? undefined : await summarizeAccount(query, account_id);
        if (account === undefined || summary === undefined) throw new Problem('not_found');
        return { ...account, ...summary };
      },
    }),
    operation('POST /private/accounts/{account_id}/block', {
      operationId: 'blockAccount',
      summary: 'Block an account',
      caller: operator,
      roles: ['support', 'finance'],
      params: ofAccount,
      answers: { 200: ACCOUNT },
      handle: ({ transact }: Needs, { by, params: { account_id } }) =>
        transact((inside) => setAccountBlocked(inside, account_id, true, by.actor)),
    }),
    operation('POST /private/accounts/{account_id}/unblock', {
      operationId: 'unblockAccount',
      summary: 'Unblock an account',
      caller: operator,
      roles: ['support', 'finance'],
      params: ofAccount,
      answers: { 200: ACCOUNT },
      handle: ({ transact }: Needs, { by, params: { account_id } }) =>
        transact((inside) => setAccountBlocked(inside, account_id, false, by.actor)),
    }),
  ],
} satisfies Chapter;

/** Billing knows the rest of an account. */
type SummaryNeeds = {
  query: Query;
  summarizeAccount: (query: Query, accountId: number) => Promise<z.output<typeof summarySchema> | undefined>;
};
