import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { Reply, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { idField, idQueryField, teamSlotsField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { cutPage, lookAhead, pageFields } from '../../http/input/page.ts';
import { operator } from '../../platform/audit/private-callers.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import {
  cancelSubscription,
  changePlan,
  createSubscription,
  resumeSubscription,
  setTeamSlots,
} from './changes.ts';
import { findSubscription, listSubscriptions } from './store.ts';
import type { Subscription } from './store.ts';

type Needs = { query: Query; transact: Transact };

const intervalField = z.enum(['month', 'year'], 'must be month or year');
const effectiveField = z.enum(['now', 'period_end'], 'must be now or period_end');
const usageField = z.enum(['reset', 'keep'], 'must be reset or keep');
const statusField = z.enum(['active', 'ended'], 'must be active or ended');

const subscriptionSchema = z
  .object({
    subscription_id: id,
    account_id: id,
    plan_id: id,
    billing_interval: intervalField,
    anchor: instant.meta({ description: 'All periods are counted from this second.' }),
    team_slots_limit: z.int().nullable(),
    pending_plan_id: id.nullable().meta({ description: 'The planned change.' }),
    pending_interval: intervalField.nullable(),
    pending_team_slots_limit: z.int().nullable().meta({ description: 'The planned release of team slots.' }),
    cancel_at_period_end: z.boolean(),
    following_plan_id: id
      .nullable()
      .meta({ description: 'The free plan that starts when the subscription has ended.' }),
    renews_at: instant,
    ended_at: instant.nullable(),
    created_at: instant,
    status: statusField,
  })
  .meta({ id: 'Subscription' });

const SUBSCRIPTION = { description: 'The subscription.', schema: subscriptionSchema };

const ofSubscription = z.object({ subscription_id: idParameter });

export const operatorSubscriptions = {
  title: 'Subscriptions',
  description: 'Subscriptions of all accounts, which renew their billing periods.',
  operations: [
    operation('GET /private/subscriptions', {
      operationId: 'listSubscriptions',
      summary: 'List subscriptions, newest first',
      caller: operator,
      roles: ['viewer'],
      query: z.strictObject({
        ...pageFields,
        account_id: idQueryField.optional(),
        plan_id: idQueryField.optional(),
        status: statusField.optional(),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: z.object({ subscriptions: z.array(subscriptionSchema), next_cursor: nextCursor }),
        },
      },
      handle: async ({ query: read }: Needs, { query }) => {
        const found = await listSubscriptions(read, query, lookAhead(query));
        const { rows, next_cursor } = cutPage(found, query, ({ subscription_id }) => subscription_id);
        return { subscriptions: rows.map(answer), next_cursor };
      },
    }),
    operation('POST /private/subscriptions', {
      operationId: 'createSubscription',
      summary: 'Create a subscription',
      description:
        'Begins now. Returns `periods_overlap` if the account has a present or later period of an operator.',
      caller: operator,
      roles: ['finance'],
      body: z.strictObject({
        account_id: idField,
        plan_id: idField,
        billing_interval: intervalField,
        team_slots_limit: teamSlotsField.default(null),
      }),
      example: { account_id: 42, plan_id: 3, billing_interval: 'month' },
      answers: { 201: { ...SUBSCRIPTION, headers: { Location: 'Path of the subscription.' } } },
      problems: ['periods_overlap', 'plan_archived', 'subscription_exists'],
      handle: async ({ transact }: Needs, { by, body }) => {
        const made = await transact((inside) => createSubscription(inside, body, by.actor));
        return new Reply(201, answer(made), {
          location: `/private/subscriptions/${String(made.subscription_id)}`,
        });
      },
    }),
    operation('GET /private/subscriptions/{subscription_id}', {
      operationId: 'getSubscription',
      summary: 'Get a subscription',
      caller: operator,
      roles: ['viewer'],
      params: ofSubscription,
      answers: { 200: SUBSCRIPTION },
      handle: async ({ query }: Needs, { params: { subscription_id } }) => {
        const found = await findSubscription(query, subscription_id);
        if (found === undefined) throw new Problem('not_found');
        return answer(found);
      },
    }),
    operation('POST /private/subscriptions/{subscription_id}/change-plan', {
      operationId: 'changeSubscriptionPlan',
      summary: 'Change the plan of a subscription',
      description:
        'With `now`, `usage` decides: `reset` ends the period and starts one without usage, `keep` continues the period ' +
        'under the new plan, whose limits then count for all of it. `keep` needs the present interval.',
      caller: operator,
      roles: ['finance'],
      params: ofSubscription,
      body: z.strictObject({
        plan_id: idField,
        billing_interval: intervalField.optional(),
        effective: effectiveField,
        usage: usageField.default('reset'),
      }),
      example: { plan_id: 4, effective: 'period_end' },
      answers: { 200: SUBSCRIPTION },
      problems: ['plan_archived', 'subscription_ended'],
      handle: async ({ transact }: Needs, { by, params: { subscription_id }, body }) =>
        answer(await transact((inside) => changePlan(inside, subscription_id, body, by.actor))),
    }),
    operation('POST /private/subscriptions/{subscription_id}/cancel', {
      operationId: 'cancelSubscription',
      summary: 'Cancel a subscription',
      description: '`now` also ends the period, without a grace window.',
      caller: operator,
      roles: ['finance'],
      params: ofSubscription,
      body: z.strictObject({ effective: effectiveField }),
      example: { effective: 'period_end' },
      answers: { 200: SUBSCRIPTION },
      problems: ['subscription_ended'],
      handle: async ({ transact }: Needs, { by, params: { subscription_id }, body: { effective } }) =>
        answer(await transact((inside) => cancelSubscription(inside, subscription_id, effective, by.actor))),
    }),
    operation('POST /private/subscriptions/{subscription_id}/resume', {
      operationId: 'resumeSubscription',
      summary: 'Undo a planned cancellation',
      caller: operator,
      roles: ['finance'],
      params: ofSubscription,
      answers: { 200: SUBSCRIPTION },
      problems: ['subscription_ended'],
      handle: async ({ transact }: Needs, { by, params: { subscription_id } }) =>
        answer(await transact((inside) => resumeSubscription(inside, subscription_id, by.actor))),
    }),
    operation('POST /private/subscriptions/{subscription_id}/team-slots', {
      operationId: 'setSubscriptionTeamSlots',
      summary: 'Set the team slots of a subscription',
      description: 'For this and all later periods.',
      caller: operator,
      roles: ['finance'],
      params: ofSubscription,
      body: z.strictObject({ team_slots_limit: teamSlotsField }),
      example: { team_slots_limit: 8 },
      answers: { 200: SUBSCRIPTION },
      problems: ['subscription_ended'],
      handle: async ({ transact }: Needs, { by, params: { subscription_id }, body }) =>
        answer(
          await transact((inside) => setTeamSlots(inside, subscription_id, body.team_slots_limit, by.actor)),
        ),
    }),
  ],
} satisfies Chapter;

function answer(subscription: Subscription) {
  return {
    ...subscription,
    status: subscription.ended_at === null ? ('active' as const) : ('ended' as const),
  };
}
