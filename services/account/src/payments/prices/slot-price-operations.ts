import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id } from '../../http/answer-fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { newPriceSchema } from '../money/price-input.ts';
import { setSlotPrice, withdrawPriceOfSlots } from './slot-price-changes.ts';
import { listSlotPrices } from './slot-price-store.ts';

type Needs = { query: Query; transact: Transact };

const intervalField = z.enum(['month', 'year'], 'must be month or year');

const slotPriceSchema = z
  .object({
    team_slot_price_id: id,
    plan_id: id,
    billing_interval: intervalField,
    currency: z.string(),
    unit_amount: z.int().meta({ description: "In the currency's minor unit, as Stripe writes it." }),
    tax_behavior: z.enum(['exclusive', 'inclusive']),
    stripe_price_id: z.string().nullable().meta({ description: 'Null until it is first needed.' }),
  })
  .meta({ id: 'TeamSlotPrice' });

const ofPrice = z.object({ plan_id: idParameter, billing_interval: intervalField });

export const operatorSlotPrices = {
  title: 'Prices of team slots',
  description:
    'What an additional team slot costs with `PAYMENTS=stripe`. A plan without a price for an interval sells no slots ' +
    "to that interval's subscribers; how many it sells is its `team_slots_max`.",
  operations: [
    operation('GET /private/team-slot-prices', {
      operationId: 'listTeamSlotPrices',
      summary: 'List the prices of team slots',
      caller: operator,
      roles: ['viewer'],
      answers: {
        200: {
          description: 'The prices.',
          schema: z.object({ team_slot_prices: z.array(slotPriceSchema) }),
        },
      },
      handle: async ({ query }: Needs) => ({ team_slot_prices: await listSlotPrices(query) }),
    }),
    operation('PUT /private/plans/{plan_id}/team-slot-prices/{billing_interval}', {
      operationId: 'setTeamSlotPrice',
      summary: "Set the price of a plan's team slots",
      description:
        'For slots that are bought from now on. A subscriber who buys another slot pays this price for all slots.',
      caller: operator,
      roles: ['admin'],
      params: ofPrice,
      body: newPriceSchema,
      example: { currency: 'eur', unit_amount: 500 },
      answers: { 200: { description: 'The price.', schema: slotPriceSchema } },
      problems: ['not_found'],
      handle: ({ transact }: Needs, { by, params, body }) =>
        transact((query) => setSlotPrice(query, { ...params, ...body }, by.actor)),
    }),
    operation('DELETE /private/plans/{plan_id}/team-slot-prices/{billing_interval}', {
      operationId: 'withdrawTeamSlotPrice',
      summary: 'Stop selling team slots of a plan',
      caller: operator,
      roles: ['admin'],
      params: ofPrice,
      answers: { 204: { description: 'Withdrawn. Slots that were bought keep their price.' } },
      problems: ['not_found'],
      handle: ({ transact }: Needs, { by, params }) =>
        transact((query) => withdrawPriceOfSlots(query, params, by.actor)),
    }),
  ],
} satisfies Chapter;
