import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { newPlanPriceSchema } from '../money/price-input.ts';
import { PLANS, setPlanPrice, withdrawPrice } from './changes.ts';
import { planPrices } from './store.ts';

type Needs = {
  query: Query;
  transact: Transact;
  payments: { closeWithdrawnPages: () => Promise<void> } | null;
};

const intervalField = z.enum(['month', 'year'], 'must be month or year');

/** Of every price in an answer. */
export const priceFields = {
  plan_id: id,
  billing_interval: intervalField,
  currency: z.string(),
  unit_amount: z.int().meta({ description: "In the currency's minor unit, as Stripe writes it." }),
  tax_behavior: z.enum(['exclusive', 'inclusive']),
  stripe_price_id: z.string().nullable().meta({ description: 'Null until it is first needed.' }),
};

const planPriceSchema = z.object({ plan_price_id: id, ...priceFields }).meta({ id: 'PlanPrice' });

export const ofPrice = z.object({ plan_id: idParameter, billing_interval: intervalField });

export const operatorPrices = {
  title: 'Prices of plans',
  description:
    'What new subscribers pay with `PAYMENTS=stripe`. Those who have subscribed keep their price. A plan without a ' +
    'price for an interval is not sold for it.',
  operations: [
    operation('GET /private/plan-prices', {
      operationId: 'listPlanPrices',
      summary: 'List the prices of all plans',
      caller: operator,
      roles: ['viewer'],
      answers: {
        200: { description: 'The prices.', schema: z.object({ plan_prices: z.array(planPriceSchema) }) },
      },
      handle: async ({ query }: Needs) => ({ plan_prices: await planPrices.list(query) }),
    }),
    operation('PUT /private/plans/{plan_id}/prices/{billing_interval}', {
      operationId: 'setPlanPrice',
      summary: 'Set the price of a plan',
      description:
        'Stripe has it once it is first needed, or after `POST /private/payments/sync`. Open payment pages with another ' +
        'price are closed. The currency is that of the ' +
        "plan's team slots and further points, if it sells any: an invoice has one. 0 by the month is a free plan, which " +
        'customers choose without a payment page.',
      caller: operator,
      roles: ['admin'],
      params: ofPrice,
      body: newPlanPriceSchema,
      example: { currency: 'eur', unit_amount: 4_900 },
      answers: { 200: { description: 'The price.', schema: planPriceSchema } },
      problems: ['not_found'],
      handle: async ({ transact, payments }: Needs, { by, params, body }) => {
        const price = await transact((query) => setPlanPrice(query, { ...params, ...body }, by.actor));
        await payments?.closeWithdrawnPages();
        return price;
      },
    }),
    operation('DELETE /private/plans/{plan_id}/prices/{billing_interval}', {
      operationId: 'withdrawPlanPrice',
      summary: 'Stop selling a plan for an interval',
      caller: operator,
      roles: ['admin'],
      params: ofPrice,
      answers: { 204: { description: 'Withdrawn. Subscribers keep their price.' } },
      problems: ['not_found'],
      handle: async ({ transact, payments }: Needs, { by, params }) => {
        await transact((query) => withdrawPrice(query, PLANS, params, by.actor));
        await payments?.closeWithdrawnPages();
      },
    }),
  ],
} satisfies Chapter;
