import { z } from 'zod';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { findHoldings } from '../../billing/credits/holdings.ts';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../../billing/entitlements/refuse-blocked.ts';
import { overageOffer, overageOfferSchema } from '../../billing/periods/overage-offer.ts';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { describedAs } from '../../http/input/described-as.ts';
import { idQueryField } from '../../http/input/fields.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { decimalsOf } from '../../platform/money/currencies.ts';
import { switchedOn } from '../switched-on.ts';
import { amountOf, requireChargeable } from './amount.ts';
import { offeredPrice } from './set.ts';
import type { OverageChoice } from './set.ts';
import { STOPS, stopOf } from './settle.ts';
import { findSettings, listCharges, listOpenPeriods, listOverageGrants } from './store.ts';
import type { OverageCharge } from './store.ts';

/** What operations do about further points; there is none with PAYMENTS=none. */
export type Overage = { set: (accountId: number, choice: OverageChoice, by: Actor) => Promise<void> };

type Needs = { query: Query; overage: Overage | null; redisNowMs: () => number };

const count = z.int().min(0);

const capQueryField = describedAs(
  z
    .string('must be a whole number')
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number),
  { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 },
);

const overageSchema = z
  .object({
    offer: overageOfferSchema
      .nullable()
      .meta({ description: 'Of the present billing period; null if its plan sells no further points.' }),
    cap_points: count.meta({ description: 'How many the account has agreed to in each period; 0 for none.' }),
    stopped_by: z
      .enum(STOPS)
      .nullable()
      .meta({
        description:
          'Why none can be used although there is a cap: the plan sells none, its price has changed, or an invoice ' +
          'for them is not paid.',
      }),
    points_used: count.meta({ description: 'In the present period, usually up to a second ago.' }),
    amount: count.meta({ description: 'What these cost, in the minor unit, without tax.' }),
    max_amount: count.meta({ description: 'What all up to the cap cost, or those used if they are more.' }),
  })
  .meta({ id: 'Overage' });

const OVERAGE = {
  description: 'What is set, and used.',
  schema: z.object({ overage: overageSchema }),
  example: {
    overage: {
      offer: { price_per_1000: 50, currency: 'eur', decimals: 2 },
      cap_points: 100_000,
      stopped_by: null,
      points_used: 12_400,
      amount: 620,
      max_amount: 5_000,
    },
  },
};

const chargeSchema = z
  .object({
    charge_id: id,
    period_id: id,
    points: z.int().meta({ description: 'Below 0 for a correction.' }),
    currency: z.string(),
    decimals: z.int().meta({ description: 'Decimals of amounts in this currency.' }),
    amount: z.int().meta({ description: 'In the minor unit, without tax.' }),
    is_invoiced: z
      .boolean()
      .meta({ description: 'Whether Stripe has it on an invoice, or for the next one.' }),
    created_at: instant,
  })
  .meta({ id: 'OverageCharge' });

export const ownerOverage = {
  title: 'Points beyond the included ones',
  description:
    'Further points at a price, which plans can have. They are used after all credits, up to a cap that the account ' +
    'sets, and are charged once the billing period is closed. Of the members of a team, only those with the role `billing` can set it.',
  operations: [
    operation('GET /api/console/overage', {
      operationId: 'getOverage',
      summary: 'Get what is set for further points, and used of them',
      caller: billingSession,
      description:
        'With `cap_points`, `max_amount` is for this cap, so that it can be shown before the cap is set.',
      query: z.strictObject({ cap_points: capQueryField.optional() }),
      answers: { 200: OVERAGE },
      handle: (needs: Needs, { by: { account_id }, query }) => answer(needs, account_id, query.cap_points),
    }),
    operation('PUT /api/console/overage', {
      operationId: 'setOverage',
      summary: 'Set how many further points can be used in each period',
      description:
        'Takes effect within a second. What was used until then stays charged if the cap is lowered, and can be used ' +
        'again only up to the new cap. `price_per_1000` and `currency` state what was agreed to; if the plan costs ' +
        'something else, nothing changes.',
      caller: billingSession,
      guard: mayAgree,
      body: z.strictObject({
        cap_points: z.int('must be a whole number').min(0).max(MAX_TOTAL),
        price_per_1000: z.int('must be a whole number').min(1).optional(),
        currency: z.string().optional(),
      }),
      example: { cap_points: 100_000, price_per_1000: 50, currency: 'eur' },
      answers: { 200: OVERAGE },
      problems: [
        'account_blocked',
        'amount_changed',
        'forbidden',
        'no_billing_period',
        'no_payment_method',
        'not_found',
        'overage_not_offered',
        'payments_unavailable',
        'plan_has_no_points_limit',
        'total_too_large',
      ],
      handle: async (needs: Needs, { by: { account_id, actor }, body }) => {
        const { cap_points, price_per_1000, currency } = body;
        const price =
          price_per_1000 === undefined || currency === undefined ? null : { price_per_1000, currency };
        await switchedOn(needs.overage).set(account_id, { cap_points, price }, actor);
        return answer(needs, account_id);
      },
    }),
    operation('GET /api/console/overage-charges', {
      operationId: 'listOverageCharges',
      summary: 'List what was charged for further points, newest first',
      caller: billingSession,
      query: z.strictObject(pageFields),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ charges: z.array(chargeSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { by: { account_id }, query }) => {
        const found = await listCharges(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ charge_id }) => charge_id);
        return { charges: rows.map(shownCharge), next_cursor };
      },
    }),
  ],
} satisfies Chapter;

const operatorChargeSchema = chargeSchema
  .omit({ decimals: true, is_invoiced: true })
  .extend({
    account_id: id,
    charge_key: z.string().meta({ description: "In the metadata of Stripe's item." }),
    stripe_item_id: z.string().nullable().meta({ description: 'Null until Stripe has it.' }),
  })
  .meta({ id: 'OperatorOverageCharge' });

export const operatorOverage = {
  title: 'Points beyond the included ones',
  description: 'What accounts are charged for further points.',
  operations: [
    operation('GET /private/overage-charges', {
      operationId: 'listAllOverageCharges',
      summary: 'List charges for further points, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({ ...pageFields, account_id: idQueryField.optional() }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ charges: z.array(operatorChargeSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Pick<Needs, 'query'>, { query }) => {
        const { account_id } = query;
        const found = await listCharges(read, { account_id }, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ charge_id }) => charge_id);
        return { charges: rows.map(({ attempts: _attempts, ...charge }) => charge), next_cursor };
      },
    }),
  ],
} satisfies Chapter;

/** Guard: payments are on, and blocked accounts agree to nothing. */
async function mayAgree(needs: BlockedNeeds & Pick<Needs, 'overage'>, by: SignedIn): Promise<void> {
  switchedOn(needs.overage);
  await unblocked(needs, by);
}

async function answer({ query, overage, redisNowMs }: Needs, accountId: number, askedCap?: number) {
  const settings = await findSettings(query, accountId);
  const periods = await listOpenPeriods(query, accountId);
  const [period] = periods;
  const price = overage === null ? null : offeredPrice(periods);
  const used = period === undefined ? 0 : await findUsed(query, accountId, period.period_id, redisNowMs());
  const { cap_points } = settings;
  if (price !== null && askedCap !== undefined) requireChargeable(askedCap, price);
  return {
    overage: {
      offer: overageOffer(price),
      cap_points,
      stopped_by: cap_points === 0 ? null : period === undefined ? 'not_offered' : stopOf(period, settings),
      points_used: used,
      amount: price === null ? 0 : amountOf(used, price),
      max_amount: price === null ? 0 : amountOf(Math.max(used, askedCap ?? cap_points), price),
    },
  };
}

/** What the period has used of its further points, also what isn't settled yet. */
async function findUsed(query: Query, accountId: number, periodId: number, nowMs: number): Promise<number> {
  const grants = (await listOverageGrants(query, accountId)).filter(
    ({ period_id }) => period_id === periodId,
  );
  if (grants.length === 0) return 0;
  const { overage } = await findHoldings(query, accountId, nowMs);
  const left = new Map(overage.map((credit) => [credit.credit_id, credit.points_remaining]));
  return grants.reduce((sum, { credit_id, points, points_voided, points_remaining, is_voiding }) => {
    const unused = is_voiding ? points_remaining : (left.get(credit_id) ?? 0);
    return sum + points - points_voided - unused;
  }, 0);
}

type Shown = Pick<
  OverageCharge,
  'charge_id' | 'period_id' | 'points' | 'amount' | 'stripe_item_id' | 'created_at'
> & { currency: string };

function shownCharge({ charge_id, period_id, points, currency, amount, stripe_item_id, created_at }: Shown) {
  const decimals = decimalsOf(currency) ?? 2;
  const is_invoiced = stripe_item_id !== null;
  return { charge_id, period_id, points, currency, decimals, amount, is_invoiced, created_at };
}
