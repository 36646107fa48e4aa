import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { bodyOf } from '../http/input/json-body.ts';
import { queryOf } from '../http/input/page.ts';
import { signedIn } from '../identity/sessions/require-session.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { listPublicPlans } from '../billing/plans/store.ts';
import { cancelOwn, changeOwnPlan, resumeOwn, setOwnTeamSlots, subscribe } from './changes.ts';
import type { Customer } from './changes.ts';
import { changePlanSchema, ownTeamSlotsSchema, previewSchema, subscribeSchema } from './input.ts';
import { previewOf } from './preview.ts';
import type { SelfService, SelfServiceAction } from './settings.ts';
import { publicPlanAnswer, subscriptionView } from './view.ts';

/**
 * The catalogue and the account holder's own subscription (ADR 0053). Errors: 400 `invalid_request`; 403 `forbidden`
 * for a team member, or if SELF_SERVICE doesn't have the action; 404 `not_found` without a subscription; 503 if
 * Postgres is unavailable.
 */

export type SelfServiceParts = { query: Query; transact: Transact; selfService: SelfService };

/** Behind requireSession. @throws {Problem} forbidden */
export function requireSelfService(
  { selfService }: Pick<SelfServiceParts, 'selfService'>,
  action: SelfServiceAction,
): RequestHandler {
  return (_req, _res, next) => {
    if (!selfService.actions.includes(action)) {
      throw new Problem('forbidden', { detail: 'This is not self-service. Contact sales.' });
    }
    next();
  };
}

/** `GET /api/console/plans`: 200 `{plans}`, the public ones in their order. */
export function catalogueEndpoint({ query }: SelfServiceParts): RequestHandler {
  return async (_req, res) => {
    res.json({ plans: (await listPublicPlans(query)).map(publicPlanAnswer) });
  };
}

/** `GET /api/console/subscription`: 200. `billing_period` is the payer's, `subscription` the account's own. */
export function ownSubscriptionEndpoint(parts: SelfServiceParts): RequestHandler {
  return (_req, res) => sendView(parts, res);
}

/** `GET /api/console/subscription/preview?plan_id=&billing_interval=`: 200, what that plan would mean. */
export function previewEndpoint({ query }: SelfServiceParts): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, previewSchema);
    res.json(await previewOf(query, signedIn(res).account_id, wanted));
  };
}

/** `POST /api/console/subscription` with `{plan_id, billing_interval, period_id}`: 201. */
export function subscribeEndpoint(parts: SelfServiceParts): RequestHandler {
  return changing(parts, 201, (query, customer, req) =>
    subscribe(query, customer, bodyOf(req, subscribeSchema)),
  );
}

/** `POST …/change-plan` with `{plan_id, billing_interval, effective, period_id}`: 200. */
export function changeOwnPlanEndpoint(parts: SelfServiceParts): RequestHandler {
  return changing(parts, 200, (query, customer, req) =>
    changeOwnPlan(query, customer, bodyOf(req, changePlanSchema)),
  );
}

/** `POST …/cancel`, without a body: 200; at the end of the period. */
export const cancelOwnEndpoint = (parts: SelfServiceParts) => changing(parts, 200, cancelOwn);

/** `POST …/resume`, without a body: 200; undoes a cancellation. */
export const resumeOwnEndpoint = (parts: SelfServiceParts) => changing(parts, 200, resumeOwn);

/** `PUT …/team-slots` with `{team_slots_limit}`: 200; for this and all later periods. */
export function ownTeamSlotsEndpoint(parts: SelfServiceParts): RequestHandler {
  return changing(parts, 200, (query, customer, req) =>
    setOwnTeamSlots(query, customer, bodyOf(req, ownTeamSlotsSchema).team_slots_limit),
  );
}

function changing(
  parts: SelfServiceParts,
  status: 200 | 201,
  change: (query: Query, customer: Customer, req: Request) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    const { account_id, actor } = signedIn(res);
    await parts.transact((inside) => change(inside, { account_id, actor }, req));
    await sendView(parts, res.status(status));
  };
}

async function sendView({ query, selfService }: SelfServiceParts, res: Response): Promise<void> {
  res.json(await subscriptionView(query, signedIn(res).account_id, selfService));
}
