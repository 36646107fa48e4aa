import type { Answer, ApiChapter } from '../http/operation.ts';
import { catalogueSchema, previewAnswerSchema, subscriptionSchema } from './answers.ts';
import { changePlanSchema, ownTeamSlotsSchema, previewSchema, subscribeSchema } from './input.ts';

const SUBSCRIPTION: Answer = { description: 'The plan and subscription.', schema: subscriptionSchema };

const EXAMPLE = { plan_id: 3, billing_interval: 'month', period_id: 1_042 };

export const subscriptionApi: ApiChapter = {
  title: 'Plan and subscription',
  description:
    'Public plans, and the subscription of the caller. Changes return `forbidden` for team members, whose calls the ' +
    'manager pays for, and for actions that the operator has not made self-service.',
  operations: {
    'GET /api/console/plans': {
      operationId: 'listPlans',
      summary: 'List public plans',
      caller: 'session',
      answers: { 200: { description: 'The plans.', schema: catalogueSchema } },
    },
    'GET /api/console/subscription': {
      operationId: 'getSubscription',
      summary: 'Get the current plan and subscription',
      caller: 'session',
      answers: { 200: SUBSCRIPTION },
    },
    'GET /api/console/subscription/preview': {
      operationId: 'previewSubscription',
      summary: 'Preview a plan',
      description: 'When the first period of a plan would start and end. Changes nothing.',
      caller: 'session',
      query: previewSchema,
      answers: { 200: { description: 'The periods.', schema: previewAnswerSchema } },
    },
    'POST /api/console/subscription': {
      operationId: 'subscribe',
      summary: 'Subscribe to a plan',
      description: 'Starts now. A trial that started at sign-up ends; its remaining points are lost.',
      caller: 'session',
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
    },
    'POST /api/console/subscription/change-plan': {
      operationId: 'changePlan',
      summary: 'Change the plan',
      description:
        'At the end of the period or, for an upgrade, now: the period ends, and one without usage starts. The present ' +
        'plan and interval revoke a planned change.',
      caller: 'session',
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
    },
    'POST /api/console/subscription/cancel': {
      operationId: 'cancelSubscription',
      summary: 'Cancel at the end of the period',
      caller: 'session',
      answers: { 200: SUBSCRIPTION },
      problems: ['forbidden', 'not_found', 'subscription_ended'],
    },
    'POST /api/console/subscription/resume': {
      operationId: 'resumeSubscription',
      summary: 'Undo a cancellation',
      caller: 'session',
      answers: { 200: SUBSCRIPTION },
      problems: ['forbidden', 'not_found', 'subscription_ended'],
    },
    'PUT /api/console/subscription/team-slots': {
      operationId: 'setTeamSlots',
      summary: 'Buy or release team slots',
      description: 'Takes effect now, and for all later periods. Slots that are taken cannot be released.',
      caller: 'session',
      body: ownTeamSlotsSchema,
      example: { team_slots_limit: 8 },
      answers: { 200: SUBSCRIPTION },
      problems: ['account_blocked', 'forbidden', 'not_found', 'plan_not_offered', 'subscription_ended'],
    },
  },
};
