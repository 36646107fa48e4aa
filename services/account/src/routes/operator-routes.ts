import type { Express, RequestHandler } from 'express';
import { methodNotAllowed, notFound } from '@tollgate/http/error-handler';
import { requireServiceCredential } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import { noStore } from '../http/no-store.ts';
import { auditLogEndpoint } from '../operating/audit-endpoint.ts';
import { idOf } from '../http/input/id-parameter.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import { readJsonBody } from '../http/input/json-body.ts';
import {
  accountEndpoint,
  accountsEndpoint,
  blockAccountEndpoint,
  newAccountEndpoint,
} from '../identity/accounts/operator-endpoints.ts';
import {
  cancelOperatedDeletionEndpoint,
  carryOutDeletionEndpoint,
  operatedDeletionEndpoint,
} from '../lifecycle/deletion/operator-endpoints.ts';
import type { SessionEndParts } from '../identity/sessions/end-sessions.ts';
import { resetTwoFactorEndpoint } from '../identity/two-factor/operator-reset.ts';
import { summarizeAccount } from '../billing/entitlements/account-summary.ts';
import {
  blockPeriodEndpoint,
  deletePeriodEndpoint,
  endPeriodEndpoint,
  newPeriodEndpoint,
  periodEndpoint,
  periodTeamSlotsEndpoint,
  periodsEndpoint,
} from '../billing/period-changes/endpoints.ts';
import {
  archivePlanEndpoint,
  changePlanEndpoint,
  changeProductEndpoint,
  newPlanEndpoint,
  newProductEndpoint,
  planEndpoint,
  plansEndpoint,
  productEndpoint,
  productsEndpoint,
  publishPlanEndpoint,
  unpublishPlanEndpoint,
} from '../billing/plans/endpoints.ts';
import {
  cancelEndpoint,
  changeSubscriptionPlanEndpoint,
  newSubscriptionEndpoint,
  resumeEndpoint,
  subscriptionEndpoint,
  subscriptionTeamSlotsEndpoint,
  subscriptionsEndpoint,
} from '../billing/subscriptions/endpoints.ts';
import {
  deleteTeamEndpoint,
  expelMemberEndpoint,
  newMemberEndpoint,
  newTeamEndpoint,
  operatedTeamEndpoint,
  teamsEndpoint,
} from '../teams/operators/operator-endpoints.ts';
import { refusalsEndpoint, refusedCallEndpoint } from '../refusals/endpoints.ts';
import { usageGapsEndpoint } from '../counting/gaps/endpoint.ts';
import type { createCountUnassigned } from '../counting/unassigned/count.ts';
import {
  countUnassignedEndpoint,
  unassignedEndpoint,
  unassignedListEndpoint,
} from '../counting/unassigned/endpoints.ts';
import { usageCheckEndpoint, usageRebuildEndpoint } from '../counting/checks/endpoints.ts';
import { healthReportEndpoint } from '../operating/health-report/endpoint.ts';
import type { HealthReportParts } from '../operating/health-report/endpoint.ts';
import { usageRepairEndpoint } from '../counting/repairs/endpoint.ts';
import type { RepairUsage } from '../counting/repairs/repair.ts';
import { sendUsage } from '../usage/operations.ts';
import { usageViewInput } from '../usage/views/input.ts';

export type BillingOperations = SessionEndParts & {
  query: Query;
  transact: Transact;
  /** With a longer timeout, for sums over many hours. */
  checks: { query: Query; transact: Transact; onTotalsChanged: () => void };
  countUnassigned: ReturnType<typeof createCountUnassigned>;
  repairUsage: RepairUsage;
  healthReport: HealthReportParts;
  /** For usage over time, which the console reads too. */
  usageQuery: Query;
  operatorCredentials: readonly ServiceCredential[];
};

const LIST = ['GET', 'HEAD'] as const;

/** Plans, accounts, periods, subscriptions, teams, counters and refused calls (ADR 0027). */
export function billingOperatorRoutes(app: Express, parts: BillingOperations): void {
  const guard = [requireServiceCredential(parts.operatorCredentials), noStore];
  planRoutes(app, guard, parts);
  accountRoutes(app, guard, parts);
  periodRoutes(app, guard, parts);
  subscriptionRoutes(app, guard, parts);
  teamRoutes(app, guard, parts);
  auditAndUsageRoutes(app, guard, parts);
}

function planRoutes(app: Express, guard: RequestHandler[], { query, transact }: BillingOperations): void {
  app.use(['/private/products', '/private/plans'], guard);
  collection(app, '/private/products', productsEndpoint(query), newProductEndpoint(transact));
  app
    .route('/private/products/:product_id')
    .get(productEndpoint(query))
    .patch(readJsonBody, changeProductEndpoint(transact))
    .all(methodNotAllowed(...LIST, 'PATCH'));
  collection(app, '/private/plans', plansEndpoint(query), newPlanEndpoint(transact));
  app
    .route('/private/plans/:plan_id')
    .get(planEndpoint(query))
    .patch(readJsonBody, changePlanEndpoint(transact))
    .all(methodNotAllowed(...LIST, 'PATCH'));
  action(app, '/private/plans/:plan_id/archive', archivePlanEndpoint(transact, true));
  action(app, '/private/plans/:plan_id/restore', archivePlanEndpoint(transact, false));
  action(app, '/private/plans/:plan_id/publish', publishPlanEndpoint(transact));
  action(app, '/private/plans/:plan_id/unpublish', unpublishPlanEndpoint(transact));
  app.use(['/private/products', '/private/plans'], notFound);
}

/** app.ts adds an account's tokens under the same path, so unknown paths are passed on. */
function accountRoutes(
  app: Express,
  guard: RequestHandler[],
  { query, transact, usageQuery, checks, tokens }: BillingOperations,
): void {
  app.use('/private/accounts', guard);
  collection(app, '/private/accounts', accountsEndpoint(query), newAccountEndpoint(transact));
  app
    .route('/private/accounts/:account_id')
    .get(accountEndpoint(query, summarizeAccount))
    .all(methodNotAllowed(...LIST));
  app
    .route('/private/accounts/:account_id/usage')
    .get(async (req, res) => {
      const viewer = { account_id: idOf(req, 'account_id'), isOperator: true };
      await sendUsage(usageQuery, viewer, { query: usageViewInput(req, new Date()), req, res });
    })
    .all(methodNotAllowed(...LIST));
  app
    .route('/private/accounts/:account_id/refusals')
    .get(refusalsEndpoint(query))
    .all(methodNotAllowed(...LIST));
  action(app, '/private/accounts/:account_id/block', blockAccountEndpoint(transact, true));
  action(app, '/private/accounts/:account_id/unblock', blockAccountEndpoint(transact, false));
  action(app, '/private/accounts/:account_id/reset-two-factor', resetTwoFactorEndpoint({ transact, tokens }));
  const deletion = '/private/accounts/:account_id/deletion';
  app
    .route(deletion)
    .get(operatedDeletionEndpoint(query))
    .all(methodNotAllowed(...LIST));
  action(app, `${deletion}/cancel`, cancelOperatedDeletionEndpoint(transact));
  action(app, `${deletion}/carry-out`, carryOutDeletionEndpoint({ transact, checks }));
}

function periodRoutes(app: Express, guard: RequestHandler[], { query, transact }: BillingOperations): void {
  const path = '/private/periods';
  app.use(path, guard);
  collection(app, path, periodsEndpoint(query), newPeriodEndpoint(transact));
  app
    .route(`${path}/:period_id`)
    .get(periodEndpoint(query))
    .delete(deletePeriodEndpoint(transact))
    .all(methodNotAllowed(...LIST, 'DELETE'));
  action(app, `${path}/:period_id/end`, endPeriodEndpoint(transact));
  action(app, `${path}/:period_id/block`, blockPeriodEndpoint(transact, true));
  action(app, `${path}/:period_id/unblock`, blockPeriodEndpoint(transact, false));
  action(app, `${path}/:period_id/team-slots`, periodTeamSlotsEndpoint(transact));
  app.use(path, notFound);
}

function subscriptionRoutes(
  app: Express,
  guard: RequestHandler[],
  { query, transact }: BillingOperations,
): void {
  const path = '/private/subscriptions';
  app.use(path, guard);
  collection(app, path, subscriptionsEndpoint(query), newSubscriptionEndpoint(transact));
  app
    .route(`${path}/:subscription_id`)
    .get(subscriptionEndpoint(query))
    .all(methodNotAllowed(...LIST));
  action(app, `${path}/:subscription_id/change-plan`, changeSubscriptionPlanEndpoint(transact));
  action(app, `${path}/:subscription_id/cancel`, cancelEndpoint(transact));
  action(app, `${path}/:subscription_id/resume`, resumeEndpoint(transact));
  action(app, `${path}/:subscription_id/team-slots`, subscriptionTeamSlotsEndpoint(transact));
  app.use(path, notFound);
}

function teamRoutes(app: Express, guard: RequestHandler[], { query, transact }: BillingOperations): void {
  const path = '/private/teams';
  app.use(path, guard);
  collection(app, path, teamsEndpoint(query), newTeamEndpoint(transact));
  app
    .route(`${path}/:team_id`)
    .get(operatedTeamEndpoint(query))
    .delete(deleteTeamEndpoint(transact))
    .all(methodNotAllowed(...LIST, 'DELETE'));
  action(app, `${path}/:team_id/members`, newMemberEndpoint(transact));
  app
    .route(`${path}/:team_id/members/:account_id`)
    .delete(expelMemberEndpoint(transact))
    .all(methodNotAllowed('DELETE'));
  app.use(path, notFound);
}

function auditAndUsageRoutes(
  app: Express,
  guard: RequestHandler[],
  { query, checks, countUnassigned, repairUsage, healthReport }: BillingOperations,
): void {
  const unassigned = '/private/usage-unassigned';
  const paths = [
    ...['/private/audit-log', '/private/calls', '/private/usage-checks', '/private/usage-rebuilds'],
    ...['/private/usage-gaps', '/private/usage-repairs', '/private/health-report', unassigned],
  ];
  app.use(paths, guard);
  app
    .route('/private/audit-log')
    .get(auditLogEndpoint(query))
    .all(methodNotAllowed(...LIST));
  app
    .route('/private/calls/:request_id')
    .get(refusedCallEndpoint(query))
    .all(methodNotAllowed(...LIST));
  app
    .route('/private/health-report')
    .get(healthReportEndpoint(healthReport))
    .all(methodNotAllowed(...LIST));
  app
    .route('/private/usage-gaps')
    .get(usageGapsEndpoint(query))
    .all(methodNotAllowed(...LIST));
  app
    .route(unassigned)
    .get(unassignedListEndpoint(query))
    .all(methodNotAllowed(...LIST));
  app
    .route(`${unassigned}/:unassigned_id`)
    .get(unassignedEndpoint(query))
    .all(methodNotAllowed(...LIST));
  action(app, `${unassigned}/:unassigned_id/count`, countUnassignedEndpoint(countUnassigned));
  action(app, '/private/usage-checks', usageCheckEndpoint(checks.query));
  action(app, '/private/usage-rebuilds', usageRebuildEndpoint(checks.transact, checks.onTotalsChanged));
  action(app, '/private/usage-repairs', usageRepairEndpoint(repairUsage));
  app.use(paths, notFound);
}

function collection(app: Express, path: string, list: RequestHandler, create: RequestHandler): void {
  app
    .route(path)
    .get(list)
    .post(readJsonBody, create)
    .all(methodNotAllowed(...LIST, 'POST'));
}

function action(app: Express, path: string, endpoint: RequestHandler): void {
  app.route(path).post(readJsonBody, endpoint).all(methodNotAllowed('POST'));
}
