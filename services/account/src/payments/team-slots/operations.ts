import { z } from 'zod';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { countField, countQueryField } from '../../http/input/fields.ts';
import { billingSession } from '../../identity/sessions/require-session.ts';
import {
  chargeOutcomeSchema,
  changePriceSchema,
  confirmedFields,
  mayBuy,
  priceAnswer,
  switchedOn,
} from '../subscriptions/operations.ts';
import type { PaidNeeds } from '../subscriptions/operations.ts';

const PROBLEMS = [
  'forbidden',
  'not_found',
  'payments_unavailable',
  'plan_change_not_immediate',
  'plan_not_offered',
] as const;

const ALL_SLOTS = { description: 'All slots, including those of the plan; more than there are.' };

export const ownerSlotPurchases = {
  title: 'Paying for team slots',
  description: 'Slots for more members than the plan includes, where payments are enabled.',
  operations: [
    operation('GET /api/console/subscription/team-slots', {
      operationId: 'previewTeamSlots',
      summary: 'Get the price of more team slots',
      description:
        'What Stripe would charge now for more slots during the rest of the period, with tax and discounts. It falls ' +
        'every hour.',
      caller: billingSession,
      query: z.strictObject({ team_slots_limit: countQueryField.meta(ALL_SLOTS) }),
      answers: { 200: { description: 'The price.', schema: changePriceSchema } },
      problems: PROBLEMS,
      handle: async ({ paidSubscriptions }: PaidNeeds, { by: { account_id }, query }) =>
        priceAnswer(await switchedOn(paidSubscriptions).previewSlots({ account_id, ...query })),
    }),
    operation('POST /api/console/subscription/team-slots', {
      operationId: 'buyTeamSlots',
      summary: 'Buy more team slots',
      description:
        "Charges the account's card with `amount`. The slots can be used once that is paid, and are a part of every " +
        'invoice from then on.',
      caller: billingSession,
      guard: mayBuy('slots'),
      body: z.strictObject({
        team_slots_limit: countField.meta(ALL_SLOTS),
        ...confirmedFields,
      }),
      example: { team_slots_limit: 8, period_id: 1_042, amount: 1_250 },
      answers: { 200: { description: 'What became of it.', schema: chargeOutcomeSchema } },
      problems: ['account_blocked', 'amount_changed', 'subscription_changed', ...PROBLEMS],
      handle: ({ paidSubscriptions }: PaidNeeds, { by: { account_id, actor }, body }) =>
        switchedOn(paidSubscriptions).buySlots({ account_id, ...body }, actor),
    }),
  ],
} satisfies Chapter;
