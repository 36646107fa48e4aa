import type { z } from 'zod';
import type { Answer } from '@tollgate/contracts/api-description';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { unblocked } from '../billing/entitlements/refuse-blocked.ts';
import type { BlockedNeeds } from '../billing/entitlements/refuse-blocked.ts';
import { billedAccountOf, billingSession, session } from '../identity/sessions/require-session.ts';
import type { SignedIn } from '../identity/sessions/require-session.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { cancelOwn, changeOwnPlan, resumeOwn, setOwnTeamSlots, subscribe } from './changes.ts';
import type { Customer } from './changes.ts';
import type { PaidPlans } from './paid-plans.ts';
import { previewOf } from './preview.ts';
import type { SelfService, SelfServiceAction } from './settings.ts';
import { offeredPlans, subscriptionView } from './view.ts';
import { catalogueSchema, previewAnswerSchema, subscriptionSchema } from './answers.ts';
import {
  changePlanSchema,
  ownTeamSlotsSchema,
  previewSchema,
  subscribeSchema,
  whoseSubscriptionSchema,
} from './input.ts';

type Needs = {
  query: Query;
  transact: Transact;
  selfService: SelfService;
  /** Null with PAYMENTS=none. */
  paidPlans: PaidPlans | null;
};

const SUBSCRIPTION = {
  description: 'The plan and subscription.',
  schema: subscriptionSchema,
} satisfies Answer;

const EXAMPLE = { plan_id: 3, billing_interval: 'month', period_id: 1_042 };

export const ownerSubscription = {
  title: 'Plan and subscription',
  description:
    'Public plans, and the subscription of the caller. Changes return `forbidden` for team members, whose calls the ' +
    'manager pays for, and for actions that the operator has not made self-service.',
  operations: [
    operation('GET /api/console/plans', {
      operationId: 'listPlans',
      summary: 'List public plans',
      caller: billingSession,
      answers: { 200: { description: 'The plans.', schema: catalogueSchema } },
      handle: async ({ query, paidPlans }: Needs) => ({ plans: await offeredPlans(query, paidPlans) }),
    }),
    operation('GET /api/console/subscription', {
      operationId: 'getSubscription',
      summary: 'Get the current plan and subscription',
      caller: session,
      query: whoseSubscriptionSchema,
      answers: { 200: SUBSCRIPTION },
      problems: ['forbidden'],
      // `billing_period` is the payer's, `subscription` the account's own.
      handle: ({ query: read, selfService, paidPlans }: Needs, { by, query }) =>
        subscriptionView(read, actingFor(by, query).account_id, selfService, paidPlans),
    }),
    operation('GET /api/console/subscription/preview', {
      operationId: 'previewSubscription',
      summary: 'Preview a plan',
      description: 'When the period of a plan would start and end. Changes nothing.',
      caller: billingSession,
      query: previewSchema,
      answers: { 200: { description: 'The periods.', schema: previewAnswerSchema } },
      handle: ({ query: read, paidPlans }: Needs, { by, query }) =>
        previewOf(read, by.account_id, query, { isPaid: paidPlans !== null }),
    }),
    operation('POST /api/console/subscription', {
      operationId: 'subscribe',
      summary: 'Subscribe to a plan',
      description:
        'Starts now. A trial that started at sign-up ends; its remaining points are lost. Where payments are enabled, ' +
        'only a free plan starts so: others return `plan_not_offered`, and are paid on the payment page.',
      caller: billingSession,
      guard: mayBuy('subscribe'),
      body: subscribeSchema,
      example: EXAMPLE,
      answers: { 201: SUBSCRIPTION },
      problems: [
        'account_blocked',
        'forbidden',
        'periods_overlap',
        'plan_not_offered',
        'subscription_changed',
        'subscription_exists',
      ],
      handle: (needs: Needs, { by, body }) =>
        changed(needs, by, (query, customer) => subscribe(query, customer, body, needs.paidPlans)),
    }),
    operation('POST /api/console/subscription/change-plan', {
      operationId: 'changePlan',
      summary: 'Change the plan',
      description:
        'At the end of the period or, for an upgrade, now: the period continues under the new plan, and its usage ' +
        'counts against the new limits; another interval starts a period without usage. The present plan and interval ' +
        'revoke a planned change. Where payments are enabled, a planned change keeps the price of now.',
      caller: billingSession,
      guard: mayBuy('change'),
      body: changePlanSchema,
      example: { ...EXAMPLE, effective: 'period_end' },
      answers: { 200: SUBSCRIPTION },
      problems: [
        'account_blocked',
        'forbidden',
        'not_found',
        'plan_change_not_immediate',
        'plan_not_offered',
        'subscription_changed',
        'subscription_ended',
      ],
      handle: (needs: Needs, { by, body }) =>
        changed(needs, by, (query, customer) => changeOwnPlan(query, customer, body, needs.paidPlans)),
    }),
    operation('POST /api/console/subscription/cancel', {
      operationId: 'cancelSubscription',
      summary: 'Cancel at the end of the period',
      description: 'Team members can cancel a subscription of their own, whatever their role.',
      caller: session,
      guard: maySelfServe('cancel'),
      query: whoseSubscriptionSchema,
      answers: { 200: SUBSCRIPTION },
      problems: ['forbidden', 'not_found', 'subscription_ended'],
      handle: (needs: Needs, { by, query }) => changed(needs, actingFor(by, query), cancelOwn),
    }),
    operation('POST /api/console/subscription/resume', {
      operationId: 'resumeSubscription',
      summary: 'Undo a cancellation',
      caller: session,
      guard: maySelfServe('cancel'),
      query: whoseSubscriptionSchema,
      answers: { 200: SUBSCRIPTION },
      problems: ['forbidden', 'not_found', 'subscription_ended'],
      handle: (needs: Needs, { by, query }) => changed(needs, actingFor(by, query), resumeOwn),
    }),
    operation('PUT /api/console/subscription/team-slots', {
      operationId: 'setTeamSlots',
      summary: 'Buy or release team slots',
      description:
        'Takes effect now, and for all later periods. Slots that are taken cannot be released. Where payments are ' +
        'enabled, it only releases, at the end of the period; the present number revokes that.',
      caller: billingSession,
      guard: mayBuy('slots'),
      body: ownTeamSlotsSchema,
      example: { team_slots_limit: 8 },
      answers: { 200: SUBSCRIPTION },
      problems: [
        'account_blocked',
        'forbidden',
        'not_found',
        'payments_unavailable',
        'plan_not_offered',
        'subscription_ended',
      ],
      handle: (needs: Needs, { by, body }) =>
        changed(needs, by, (query, customer) =>
          setOwnTeamSlots(query, customer, body.team_slots_limit, needs.paidPlans),
        ),
    }),
  ],
} satisfies Chapter;

/**
 * A subscription stays with its buyer in a team, so a member who manages the team's billing acts for either account. A
 * page that names the account it shows changes no other if the role has changed since. @throws {Problem} forbidden
 */
function actingFor(
  by: SignedIn,
  { account_id = billedAccountOf(by) }: z.output<typeof whoseSubscriptionSchema>,
): SignedIn {
  if (account_id !== by.account_id && account_id !== billedAccountOf(by)) {
    throw new Problem('forbidden', { detail: 'You don’t manage the billing of this account.' });
  }
  return { ...by, account_id };
}

/** Guard: the operator decides what is self-service (docs/design/billing.md). */
function maySelfServe(action: SelfServiceAction) {
  return ({ selfService }: Pick<Needs, 'selfService'>): void => {
    if (selfService.actions.includes(action)) return;
    throw new Problem('forbidden', { detail: 'This is not self-service. Contact sales.' });
  };
}

/** Guard: blocked accounts can cancel, and buy nothing. */
function mayBuy(action: SelfServiceAction) {
  const isSelfService = maySelfServe(action);
  return async (needs: BlockedNeeds & Pick<Needs, 'selfService'>, by: SignedIn): Promise<void> => {
    isSelfService(needs);
    await unblocked(needs, by);
  };
}

async function changed(
  { query, transact, selfService, paidPlans }: Needs,
  { account_id, actor }: SignedIn,
  change: (inside: Query, customer: Customer) => Promise<void>,
) {
  await transact((inside) => change(inside, { account_id, actor }));
  return subscriptionView(query, account_id, selfService, paidPlans);
}
