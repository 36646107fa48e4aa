import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { idField, idQueryField, teamSlotsField } from '../../http/input/fields.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';
import {
  cancelSubscription,
  changePlan,
  createSubscription,
  resumeSubscription,
  setTeamSlots,
} from './changes.ts';
import { findSubscription, listSubscriptions } from './store.ts';
import type { Subscription } from './store.ts';

/**
 * Subscriptions, for operators (ADR 0027). A subscription is `subscription_id, account_id, plan_id, billing_interval,
 * anchor, team_slots_limit, pending_plan_id, pending_interval, cancel_at_period_end, renews_at, ended_at, created_at`
 * and `status`, `active` or `ended`. Errors as for plans, and 409 `subscription_ended`.
 */

const intervalField = z.enum(['month', 'year'], 'must be month or year');
const effectiveField = z.enum(['now', 'period_end'], 'must be now or period_end');

const newSubscriptionSchema = z.strictObject({
  account_id: idField,
  plan_id: idField,
  billing_interval: intervalField,
  team_slots_limit: teamSlotsField.default(null),
});

const planChangeSchema = z.strictObject({
  plan_id: idField,
  billing_interval: intervalField.optional(),
  effective: effectiveField,
});

const cancellationSchema = z.strictObject({ effective: effectiveField });

const teamSlotsSchema = z.strictObject({ team_slots_limit: teamSlotsField });

const listSchema = z.strictObject({
  ...pageFields,
  account_id: idQueryField.optional(),
  plan_id: idQueryField.optional(),
  status: z.enum(['active', 'ended'], 'must be active or ended').optional(),
});

/** `GET /private/subscriptions?account_id=&plan_id=&status=&limit=50&cursor=…`: 200 `{subscriptions, next_cursor}`, newest first. */
export function subscriptionsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, listSchema);
    const found = await listSubscriptions(query, wanted, lookAhead(wanted));
    const { rows, next_cursor } = cutPage(found, wanted, ({ subscription_id }) => subscription_id);
    res.json({ subscriptions: rows.map(answer), next_cursor });
  };
}

/**
 * `POST /private/subscriptions` with `{account_id, plan_id, billing_interval, team_slots_limit?}`: 201; begins now.
 * 409 `subscription_exists`, `plan_archived`, or `periods_overlap` with an operator's present or later period.
 */
export function newSubscriptionEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newSubscriptionSchema);
    const made = await transact((inside) => createSubscription(inside, wanted, operatorOf(req, res)));
    res
      .status(201)
      .location(`/private/subscriptions/${String(made.subscription_id)}`)
      .json(answer(made));
  };
}

/** `GET /private/subscriptions/{subscription_id}`: 200. */
export function subscriptionEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const found = await findSubscription(query, idOf(req, 'subscription_id'));
    if (found === undefined) throw new Problem('not_found');
    res.json(answer(found));
  };
}

/** `POST …/{subscription_id}/change-plan` with `{plan_id, billing_interval?, effective}`: 200. */
export function changeSubscriptionPlanEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, wanted] = [idOf(req, 'subscription_id'), bodyOf(req, planChangeSchema)];
    res.json(answer(await transact((inside) => changePlan(inside, id, wanted, operatorOf(req, res)))));
  };
}

/** `POST …/{subscription_id}/cancel` with `{effective}`: 200. `now` also ends the period, without a grace window. */
export function cancelEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, { effective }] = [idOf(req, 'subscription_id'), bodyOf(req, cancellationSchema)];
    res.json(
      answer(await transact((inside) => cancelSubscription(inside, id, effective, operatorOf(req, res)))),
    );
  };
}

/** `POST …/{subscription_id}/resume`, without a body: 200; revokes a planned cancellation. */
export function resumeEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const id = idOf(req, 'subscription_id');
    res.json(answer(await transact((inside) => resumeSubscription(inside, id, operatorOf(req, res)))));
  };
}

/** `POST …/{subscription_id}/team-slots` with `{team_slots_limit}`: 200; for this and all later periods. */
export function subscriptionTeamSlotsEndpoint(transact: Transact): RequestHandler {
  return async (req, res) => {
    const [id, { team_slots_limit }] = [idOf(req, 'subscription_id'), bodyOf(req, teamSlotsSchema)];
    res.json(
      answer(await transact((inside) => setTeamSlots(inside, id, team_slots_limit, operatorOf(req, res)))),
    );
  };
}

function answer(subscription: Subscription) {
  return { ...subscription, status: subscription.ended_at === null ? 'active' : 'ended' };
}
