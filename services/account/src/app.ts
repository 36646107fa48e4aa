import { planLimitsEndpoint } from './billing/plans/largest-limits.ts';
import type { Express } from 'express';
import type { Registry } from 'prom-client';
import type { Introspector } from '@tollgate/introspection';
import type { StrictTransportSecurity } from '@tollgate/config/settings';
import type { Logger } from '@tollgate/log';
import type { AccessLog } from '@tollgate/log/access-log';
import { requestLog } from '@tollgate/log/request-log';
import { requireServiceCredential } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import { methodNotAllowed, notFound, problemHandler } from '@tollgate/http/error-handler';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import type { AddressOf } from '@tollgate/http/error-handler';
import { bareApp } from '@tollgate/server/bare-app';
import { operationsRouter } from '@tollgate/server/health';
import type { ReadinessChecks } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import { documentText } from './api-document/operations.ts';
import { requireToken } from './access/authentication/bearer.ts';
import { OPERATOR_API } from './api/operator.ts';
import { OWNER_API, createApiDocument } from './api/owner.ts';
import type { Applications } from './access/applications/applications.ts';
import { clientEndpoint } from './access/clients/client-endpoint.ts';
import {
  createRecoveredRevocations,
  lostRevocationEndpoint,
} from './access/clients/lost-revocation-endpoint.ts';
import type { OwnerNeeds } from './api/owner.ts';
import type { Query } from './platform/database/query.ts';
import { entitlementEndpoint } from './billing/entitlements/entitlement-endpoint.ts';
import type { KeptAnswers } from './billing/entitlements/kept-answers.ts';
import { jsonBodyUpTo, readJsonBody } from './http/input/json-body.ts';
import { noStore } from './http/no-store.ts';
import type { OperatorNeeds } from './api/operator.ts';
import { summarizeAccount } from './billing/entitlements/account-summary.ts';
import {
  clientPageEndpoint,
  clientRevocationEndpoint,
  readUses,
  revokedTokensEndpoint,
  tokenUsesEndpoint,
} from './access/tokens/auth/auth-endpoints.ts';
import { noteCallerAddress } from './http/caller-address.ts';
import type { Tokens } from './access/tokens/tokens.ts';
import { noteSignedIn, requireSession } from './identity/sessions/require-session.ts';
import { sameOriginOnly } from './identity/sessions/same-origin.ts';
import { createRefuseBlocked } from './billing/entitlements/refuse-blocked.ts';
import type { Chapter } from './http/operation.ts';
import { serve } from './http/serve.ts';
import type { CountReport } from './counting/reports/count-report.ts';
import { usageReportEndpoint } from './counting/reports/endpoint.ts';
import type { ReportMetrics } from './counting/reports/endpoint.ts';
import { MAX_REPORT_BYTES } from './counting/reports/input.ts';
import { usageSnapshotEndpoint } from './counting/snapshot/usage-snapshot-endpoint.ts';
import { browserProtection } from './http/browser-protection.ts';
import type { Brand } from './console/brand.ts';
import { consolePage } from './console/console-page.ts';

type PublicParts = {
  logger: Logger;
  addressOf: AddressOf;
  accessLog: AccessLog | null;
  registry: Registry;
  query: Query;
  introspect: Introspector['introspect'];
  trusts: TrustsAddress;
  strictTransportSecurity: StrictTransportSecurity;
  consoleDirectory: string;
  brand: Brand;
  usageQuery: Query;
  console: Omit<OwnerNeeds, 'usageQuery' | 'refuseBlocked' | 'apiDocument'> & { publicUrl: string };
  checkAnswers: boolean;
};

type PrivateParts = {
  logger: Logger;
  addressOf: AddressOf;
  registry: Registry;
  query: Query;
  keptAnswers: KeptAnswers;
  applications: Applications;
  tokens: Tokens;
  serviceCredentials: readonly ServiceCredential[];
  operatorCredentials: readonly ServiceCredential[];
  usageQuery: Query;
  billing: Omit<
    OperatorNeeds,
    'query' | 'usageQuery' | 'applications' | 'tokens' | 'refuseBlocked' | 'summarizeAccount'
  >;
  usageReports: UsageReports;
  checks: ReadinessChecks;
  draining: () => boolean;
  checkAnswers: boolean;
};

export type UsageReports = {
  credentials: readonly ServiceCredential[];
  countReport: CountReport;
  metrics: ReportMetrics;
};

/** The public listener, for account holders and their programs. */
export function createPublicApp(parts: PublicParts): Express {
  const { logger, registry, query, usageQuery, introspect, accessLog } = parts;
  // For X-Forwarded-Host (same-origin.ts).
  const app = bareApp(parts.trusts);
  app.use(
    requestLog(logger),
    httpMetrics(registry, 'public'),
    browserProtection(parts.strictTransportSecurity),
  );
  app.use(noteCallerAddress(parts.addressOf));
  if (accessLog !== null) app.use(noteSignedIn(accessLog));
  const { publicUrl, cookie } = parts.console;
  app.use('/api/console', noStore, sameOriginOnly(publicUrl));
  const document = createApiDocument({ serverUrl: publicUrl, sessionCookie: cookie.name });
  serve(app, OWNER_API, {
    needs: {
      ...parts.console,
      usageQuery,
      refuseBlocked: createRefuseBlocked(query),
      apiDocument: documentText(document, publicUrl),
    },
    guards: {
      token: [requireToken(introspect, accessLog)],
      session: [requireSession(parts.console)],
      'closing-session': [requireSession({ ...parts.console, whileDeleting: true })],
    },
    checkAnswers: parts.checkAnswers,
  });
  app.use(consolePage(parts.consoleDirectory, { ...parts.console.addresses, brand: parts.brand }));
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return app;
}

/** The private listener, for other services, probes and Prometheus. */
export function createPrivateApp(parts: PrivateParts): Express {
  const { logger, registry, query, serviceCredentials, checks, draining } = parts;
  const app = bareApp();
  app.use(
    operationsRouter({ checks, registry, draining }),
    requestLog(logger),
    httpMetrics(registry, 'private'),
  );
  operatorRoutes(app, parts);
  usageReportRoute(app, parts.usageReports);
  app.use('/private', requireServiceCredential(serviceCredentials));
  app.route('/private/clients/:client_id').get(clientEndpoint(query)).all(methodNotAllowed('GET', 'HEAD'));
  app
    .route('/private/clients/:client_id/revoked-tokens')
    .get(revokedTokensEndpoint(query))
    .post(readJsonBody, clientRevocationEndpoint(parts.tokens))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  const recovered = createRecoveredRevocations(registry);
  app
    .route('/private/clients/:client_id/lost-revocation')
    .post(readJsonBody, lostRevocationEndpoint({ applications: parts.applications, logger, recovered }))
    .all(methodNotAllowed('POST'));
  app
    .route('/private/manual-tokens/clients')
    .get(clientPageEndpoint(query))
    .all(methodNotAllowed('GET', 'HEAD'));
  app
    .route('/private/manual-tokens/uses')
    .post(readUses, tokenUsesEndpoint(query))
    .all(methodNotAllowed('POST'));
  app
    .route('/private/entitlements/:account_id')
    .get(entitlementEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD'));
  app.route('/private/plan-limits').get(planLimitsEndpoint(query)).all(methodNotAllowed('GET', 'HEAD'));
  app
    .route('/private/usage-snapshots/:period_id')
    .get(usageSnapshotEndpoint(query))
    .all(methodNotAllowed('GET', 'HEAD'));
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return app;
}

/** Needs an operator credential; service credentials are refused, and an unknown path is not found. */
function operatorRoutes(app: Express, parts: PrivateParts): void {
  const { applications, tokens, query, usageQuery, operatorCredentials, checkAnswers } = parts;
  const operator = [requireServiceCredential(operatorCredentials), noStore];
  const refuseBlocked = createRefuseBlocked(query);
  const rooms = roomsOf(OPERATOR_API);
  app.use(rooms, operator);
  serve(app, OPERATOR_API, {
    needs: { ...parts.billing, applications, tokens, query, usageQuery, refuseBlocked, summarizeAccount },
    guards: { operator: [] },
    checkAnswers,
  });
  app.use(rooms, notFound);
}

/** The first two segments of the paths, as `/private/plans`. */
function roomsOf(chapters: readonly Chapter[]): string[] {
  const paths = chapters.flatMap(({ operations }) => operations.map(({ path }) => path));
  return [...new Set(paths.map((path) => path.split('/').slice(0, 3).join('/')))];
}

/** Needs a reporter credential, which is accepted nowhere else. */
function usageReportRoute(app: Express, { credentials, countReport, metrics }: UsageReports): void {
  const path = '/private/usage-reports';
  app.use(path, requireServiceCredential(credentials), noStore);
  app
    .route(path)
    .post(jsonBodyUpTo(MAX_REPORT_BYTES), usageReportEndpoint(countReport, metrics))
    .all(methodNotAllowed('POST'));
  app.use(path, notFound);
}
