import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id } from '../../http/answer-fields.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { newPriceSchema } from '../money/price-input.ts';
import { TEAM_SLOTS, setSlotPrice, withdrawPrice } from './changes.ts';
import { ofPrice, priceFields } from './operations.ts';
import { slotPrices } from './store.ts';

type Needs = { query: Query; transact: Transact };

const slotPriceSchema = z.object({ team_slot_price_id: id, ...priceFields }).meta({ id: 'TeamSlotPrice' });

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
      handle: async ({ query }: Needs) => ({ team_slot_prices: await slotPrices.list(query) }),
    }),
    operation('PUT /private/plans/{plan_id}/team-slot-prices/{billing_interval}', {
      operationId: 'setTeamSlotPrice',
      summary: "Set the price of a plan's team slots",
      description:
        'For slots that are bought from now on. A subscriber who buys another slot pays this price for all slots. ' +
        "The currency is that of the plan's price.",
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
        transact((query) => withdrawPrice(query, TEAM_SLOTS, params, by.actor)),
    }),
  ],
} satisfies Chapter;
