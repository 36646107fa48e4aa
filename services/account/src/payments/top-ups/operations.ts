import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idField, idQueryField } from '../../http/input/fields.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { decimalsOf } from '../../platform/money/currencies.ts';
import { switchedOn } from '../switched-on.ts';
import { findSettings, findSpent, listTopUps } from './store.ts';
import type { TopUp, TopUpChoice, TopUpSettings } from './store.ts';

/** What operations do about top-ups; there is none with PAYMENTS=none. */
export type TopUps = {
  set: (accountId: number, choice: TopUpChoice, by: Actor) => Promise<void>;
  stop: (accountId: number, by: Actor) => Promise<void>;
};

type Needs = { query: Query; topUps: TopUps | null };

const MAX_THRESHOLD = Number.MAX_SAFE_INTEGER;
const whole = z.int('must be a whole number').min(1);

const choiceSchema = z.strictObject({
  pack_id: idField,
  threshold_points: whole
    .max(MAX_THRESHOLD)
    .meta({ description: 'The pack is bought when fewer points than these are left.' }),
  max_times: whole.max(1_000).meta({ description: 'Purchases in a calendar month (UTC).' }),
  max_amount: whole
    .max(MAX_THRESHOLD)
    .meta({ description: "The same as an amount without tax, in the minor unit of the pack's currency." }),
});

const settingsSchema = choiceSchema
  .extend({
    is_on: z.boolean(),
    paused_for: z
      .string()
      .nullable()
      .meta({
        description:
          'Why nothing is bought although it is on: `declined` (3 times in a row), `no_payment_method`, ' +
          '`pack_withdrawn`, or the decline code of the bank. Another pack resumes it after `pack_withdrawn`, ' +
          'another card or a purchase after the rest.',
      }),
    not_before: instant
      .nullable()
      .meta({ description: 'After a decline, or if a limit is reached: when buying continues.' }),
    times: z.int().meta({ description: 'Bought, or pending, in this calendar month (UTC).' }),
    amount: z.int().meta({ description: 'The same as an amount.' }),
  })
  .meta({ id: 'TopUpSettings' });

const topUpSchema = z
  .object({
    top_up_id: id,
    pack_name: z.string(),
    points: id,
    currency: z.string(),
    decimals: z.int().meta({ description: 'Decimals of amounts in this currency.' }),
    amount: z.int().meta({ description: 'In the minor unit, without tax.' }),
    state: z.enum(['pending', 'paid', 'declined', 'canceled']),
    decline_code: z.string().nullable().meta({ description: 'Of the bank, if it stated one.' }),
    created_at: instant,
  })
  .meta({ id: 'TopUp' });

const SETTINGS = {
  description: 'What is set; null before the first time.',
  schema: z.object({ top_up: settingsSchema.nullable() }),
};

export const ownerTopUps = {
  title: 'Automatic top-up',
  description:
    'Buys a pack with the saved card when few points are left. It is off until it is switched on. Of the members ' +
    'of a team, only those with the role `billing` can use it.',
  operations: [
    operation('GET /api/console/top-up', {
      operationId: 'getTopUp',
      summary: 'Get the settings of automatic top-up',
      caller: billingSession,
      answers: { 200: SETTINGS },
      handle: ({ query }: Needs, { by: { account_id } }) => answer(query, account_id),
    }),
    operation('PUT /api/console/top-up', {
      operationId: 'setTopUp',
      summary: 'Switch automatic top-up on, or change it',
      caller: billingSession,
      guard: mayTopUp,
      body: choiceSchema,
      example: { pack_id: 2, threshold_points: 1_000, max_times: 5, max_amount: 10_000 },
      answers: { 200: SETTINGS },
      problems: [
        'account_blocked',
        'forbidden',
        'no_billing_period',
        'no_payment_method',
        'not_found',
        'pack_not_offered',
        'payments_unavailable',
        'plan_has_no_points_limit',
      ],
      handle: async ({ query, topUps }: Needs, { by: { account_id, actor }, body }) => {
        await switchedOn(topUps).set(account_id, body, actor);
        return answer(query, account_id);
      },
    }),
    operation('POST /api/console/top-up/stop', {
      operationId: 'stopTopUp',
      summary: 'Switch automatic top-up off',
      description:
        'Takes effect before the response: no payment is made that was not confirmed before. After a 503 it is off, and ' +
        'a payment may still be under way; repeat the request.',
      caller: billingSession,
      answers: { 200: SETTINGS },
      problems: ['not_found', 'payments_unavailable'],
      handle: async ({ query, topUps }: Needs, { by: { account_id, actor } }) => {
        await switchedOn(topUps).stop(account_id, actor);
        return answer(query, account_id);
      },
    }),
    operation('GET /api/console/top-ups', {
      operationId: 'listTopUps',
      summary: 'List automatic top-ups, newest first',
      caller: billingSession,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ top_ups: z.array(topUpSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { by: { account_id }, query }) => {
        const found = await listTopUps(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ top_up_id }) => top_up_id);
        return { top_ups: rows.map(shownTopUp), next_cursor };
      },
    }),
  ],
} satisfies Chapter;

const operatorTopUpSchema = topUpSchema
  .omit({ decimals: true })
  .extend({
    account_id: id,
    payment_id: z.string().nullable().meta({ description: "Stripe's PaymentIntent." }),
    purchase_id: id.nullable(),
    decided_at: instant.nullable(),
  })
  .meta({ id: 'OperatorTopUp' });

export const operatorTopUps = {
  title: 'Automatic top-ups',
  description: 'Attempts of all accounts.',
  operations: [
    operation('GET /private/top-ups', {
      operationId: 'listAllTopUps',
      summary: 'List automatic top-ups, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({ ...pageFields, account_id: idQueryField.optional() }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ top_ups: z.array(operatorTopUpSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Pick<Needs, 'query'>, { query }) => {
        const { account_id } = query;
        const found = await listTopUps(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ top_up_id }) => top_up_id);
        const top_ups = rows.map(({ account_id: account, payment_id, purchase_id, decided_at, ...row }) => {
          const { decimals: _decimals, ...shown } = shownTopUp({ ...row });
          return { ...shown, account_id: account, payment_id, purchase_id, decided_at };
        });
        return { top_ups, next_cursor };
      },
    }),
  ],
} satisfies Chapter;

/** Guard: payments are on, and blocked accounts buy nothing. */
async function mayTopUp(needs: BlockedNeeds & Pick<Needs, 'topUps'>, by: SignedIn): Promise<void> {
  switchedOn(needs.topUps);
  await unblocked(needs, by);
}

async function answer(query: Query, accountId: number) {
  const found = await findSettings(query, accountId);
  if (found === undefined) return { top_up: null };
  return { top_up: { ...shownSettings(found), ...(await findSpent(query, accountId)) } };
}

function shownSettings({ account_id: _account, declines: _declines, ...shown }: TopUpSettings) {
  return shown;
}

const SHOWN_STATES = {
  open: 'pending',
  confirming: 'pending',
  processing: 'pending',
  paid: 'paid',
  declined: 'declined',
  canceled: 'canceled',
} as const satisfies Record<TopUp['state'], string>;

type Shown = Pick<
  TopUp,
  'top_up_id' | 'pack_name' | 'points' | 'currency' | 'amount' | 'state' | 'decline_code' | 'created_at'
>;

function shownTopUp(topUp: Shown) {
  const { top_up_id, pack_name, points, currency, amount, decline_code, created_at } = topUp;
  const state = SHOWN_STATES[topUp.state];
  const decimals = decimalsOf(currency) ?? 2;
  return { top_up_id, pack_name, points, currency, decimals, amount, state, decline_code, created_at };
}
