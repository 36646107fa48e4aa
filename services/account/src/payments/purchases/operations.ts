import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { decimalsOf } from '../../platform/money/currencies.ts';
import { switchedOn } from '../switched-on.ts';
import { listOfferedPacks } from '../packs/store.ts';
import type { Payments } from './payments.ts';
import { findOwnPurchase, listPurchases, listWithReversals } from './store.ts';
import type { Purchase } from './store.ts';

type Needs = { query: Query; payments: Payments | null };

const price = {
  currency: z.string(),
  decimals: z.int().meta({ description: 'Decimals of amounts in this currency.' }),
};

const offeredPackSchema = z
  .object({
    pack_id: id,
    name: z.string(),
    points: id,
    ...price,
    unit_amount: z.int().meta({ description: 'In the minor unit: 1900 with two decimals is 19.00.' }),
    tax_behavior: z
      .enum(['exclusive', 'inclusive'])
      .meta({ description: 'Whether tax is added to the price or a part of it.' }),
    expires_after_days: z.int().nullable().meta({ description: 'Null if its points never expire.' }),
  })
  .meta({ id: 'OfferedPack' });

const purchaseSchema = z
  .object({
    purchase_id: id,
    pack_name: z.string(),
    quantity: id,
    points: id,
    ...price,
    amount: z.int().meta({ description: 'As sold, in the minor unit, without tax and discounts.' }),
    state: z.enum(['open', 'processing', 'paid', 'expired', 'failed', 'refunded']).meta({
      description: '`processing`: the payment is pending. Points are granted once it is `paid`.',
    }),
    checkout_url: z.string().nullable().meta({ description: 'Where to pay; null unless it is `open`.' }),
    created_at: instant,
    paid_at: instant.nullable(),
  })
  .meta({ id: 'Purchase' });

const PURCHASE = { description: 'The purchase.', schema: purchaseSchema };

const MAX_QUANTITY = 1_000;

const beginSchema = z.strictObject({
  pack_id: z.int('must be a whole number').min(1),
  quantity: z.int('must be a whole number').min(1).max(MAX_QUANTITY).default(1),
});

const ofPurchase = z.object({ purchase_id: idParameter });

export const ownerPurchases = {
  title: 'Buying points',
  description:
    'Packs of points that the signed-in person can buy in addition to the plan. Of the members of a team, only those with the role `billing` can buy, for the manager.',
  operations: [
    operation('GET /api/console/packs', {
      operationId: 'listOfferedPacks',
      summary: 'List packs on sale',
      caller: billingSession,
      answers: {
        200: {
          description: 'The packs, the smallest first; none if payments are not enabled.',
          schema: z.object({ packs: z.array(offeredPackSchema) }),
        },
      },
      handle: async ({ query, payments }: Needs) => {
        const packs = payments === null ? [] : await listOfferedPacks(query);
        return {
          packs: packs.map(
            ({ stripe_price_id: _price, withdrawn_at: _end, created_at: _begin, ...shown }) => ({
              ...shown,
              decimals: decimalsOf(shown.currency) ?? 2,
            }),
          ),
        };
      },
    }),
    operation('POST /api/console/purchases', {
      operationId: 'beginPurchase',
      summary: 'Buy a pack',
      description:
        'Opens a payment page. The same pack and quantity within 30 minutes leads to the same page; other open pages ' +
        'of the account are closed.',
      caller: billingSession,
      guard: mayPay,
      body: beginSchema,
      example: { pack_id: 2, quantity: 1 },
      answers: { 201: PURCHASE },
      problems: [
        'account_blocked',
        'forbidden',
        'no_billing_period',
        'not_found',
        'pack_not_offered',
        'payments_unavailable',
        'plan_has_no_points_limit',
        'too_many_requests',
      ],
      handle: async ({ payments }: Needs, { by: { account_id, actor }, body }) =>
        new Reply(201, answerOf(await switchedOn(payments).begin({ account_id, ...body }, actor))),
    }),
    operation('GET /api/console/purchases', {
      operationId: 'listPurchases',
      summary: 'List purchases, newest first',
      caller: billingSession,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ purchases: z.array(purchaseSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { by: { account_id }, query }) => {
        const found = await listPurchases(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ purchase_id }) => purchase_id);
        return { purchases: rows.map(answerOf), next_cursor };
      },
    }),
    operation('GET /api/console/purchases/{purchase_id}', {
      operationId: 'getPurchase',
      summary: 'Get a purchase',
      description:
        'Fetches the status from the payment provider if the purchase is older than 2 seconds and still open or processing.',
      caller: billingSession,
      params: ofPurchase,
      answers: { 200: PURCHASE },
      problems: ['not_found'],
      handle: async ({ query, payments }: Needs, { by: { account_id }, params: { purchase_id } }) => {
        const found = await findOwnPurchase(query, account_id, purchase_id);
        if (found === undefined) throw new Problem('not_found');
        const isDecided = found.state !== 'open' && found.state !== 'processing';
        if (payments === null || isDecided || Date.now() - found.created_at.getTime() < ASK_AFTER_MS) {
          return answerOf(found);
        }
        await payments.refresh(found);
        return answerOf((await findOwnPurchase(query, account_id, purchase_id)) ?? found);
      },
    }),
  ],
} satisfies Chapter;

/** By then the event has come, normally. */
const ASK_AFTER_MS = 2_000;

const operatorPurchaseSchema = purchaseSchema
  .omit({ decimals: true, checkout_url: true })
  .extend({
    account_id: id,
    pack_id: id,
    session_id: z.string().nullable(),
    payment_id: z
      .string()
      .nullable()
      .meta({ description: "Stripe's PaymentIntent, or the session if nothing was due." }),
    credit_id: id.nullable().meta({ description: 'The grant.' }),
    refunded_amount: z
      .int()
      .meta({ description: 'Of what was paid, in the minor unit, with refunds that are pending.' }),
    points_taken: z.int().meta({ description: 'Taken back by refunds and disputes.' }),
    shortfall_points: z
      .int()
      .meta({ description: 'That were to be taken back, but were used or had expired.' }),
  })
  .meta({ id: 'OperatorPurchase' });

export const operatorPurchases = {
  title: 'Purchases',
  description: 'Purchases of all accounts and their status.',
  operations: [
    operation('GET /private/purchases', {
      operationId: 'listAllPurchases',
      summary: 'List purchases, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({ ...pageFields, account_id: idQueryField.optional() }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ purchases: z.array(operatorPurchaseSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Pick<Needs, 'query'>, { query }) => {
        const { account_id } = query;
        const found = await listWithReversals(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ purchase_id }) => purchase_id);
        const purchases = rows.map(
          ({ purchase_key: _key, session_url: _url, expires_after_days: _days, ...shown }) => shown,
        );
        return { purchases, next_cursor };
      },
    }),
  ],
} satisfies Chapter;

/** Guard: payments are on, and blocked accounts buy nothing. */
async function mayPay(needs: BlockedNeeds & Pick<Needs, 'payments'>, by: SignedIn): Promise<void> {
  switchedOn(needs.payments);
  await unblocked(needs, by);
}

function answerOf(purchase: Purchase) {
  const {
    purchase_id,
    pack_name,
    quantity,
    points,
    currency,
    amount,
    state,
    session_url,
    created_at,
    paid_at,
  } = purchase;
  return {
    purchase_id,
    pack_name,
    quantity,
    points,
    currency,
    decimals: decimalsOf(currency) ?? 2,
    amount,
    state,
    checkout_url: state === 'open' ? session_url : null,
    created_at,
    paid_at,
  };
}
