import type { Express, RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { Introspector } from '@tollgate/introspection';
import type { StrictTransportSecurity } from '@tollgate/config/settings';
import type { Logger } from '@tollgate/log';
import type { AccessLog } from '@tollgate/log/access-log';
import { requestLog } from '@tollgate/log/request-log';
import { requireServiceCredential } from '@tollgate/http/private-api-credential';
import type { ServiceCredential } from '@tollgate/http/private-api-credential';
import { notFound, problemHandler } from '@tollgate/http/error-handler';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import type { AddressOf } from '@tollgate/http/error-handler';
import { bareApp } from '@tollgate/server/bare-app';
import { operationsRouter } from '@tollgate/server/health';
import type { ReadinessChecks } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import type { Chapter, NeedsOf } from '@tollgate/operation';
import { roomsOf, serve } from '@tollgate/operation/serve';
import { documentText } from './api-document/operations.ts';
import { requireToken } from './access/authentication/bearer.ts';
import { OPERATOR_API } from './api/operator.ts';
import { OWNER_API, createApiDocument } from './api/owner.ts';
import { createRecoveredRevocations } from './access/clients/operations.ts';
import type { OwnerNeeds } from './api/owner.ts';
import { REPORTER_API, SERVICE_API } from './api/services.ts';
import type { ServicesNeeds } from './api/services.ts';
import type { Query } from './platform/database/query.ts';
import { noStore } from './http/no-store.ts';
import type { OperatorNeeds } from './api/operator.ts';
import { summarizeAccount } from './billing/entitlements/account-summary.ts';
import { noteCallerAddress } from './http/caller-address.ts';
import { noteSignedIn, requireSession } from './identity/sessions/require-session.ts';
import { sameOriginOnly } from './identity/sessions/same-origin.ts';
import { createRefuseBlocked } from './billing/entitlements/refuse-blocked.ts';
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
  /** Separate: none is accepted in place of another. */
  credentials: Record<'operator' | 'reporter' | 'service', readonly ServiceCredential[]>;
  needs: Omit<
    OperatorNeeds & ServicesNeeds,
    'logger' | 'refuseBlocked' | 'summarizeAccount' | 'recoveredRevocations'
  >;
  checks: ReadinessChecks;
  draining: () => boolean;
  checkAnswers: boolean;
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
  const { logger, registry, credentials, checks, draining, checkAnswers } = parts;
  const app = bareApp();
  app.use(
    operationsRouter({ checks, registry, draining }),
    requestLog(logger),
    httpMetrics(registry, 'private'),
  );
  const needs = {
    ...parts.needs,
    logger,
    summarizeAccount,
    refuseBlocked: createRefuseBlocked(parts.needs.query),
    recoveredRevocations: createRecoveredRevocations(registry),
  };
  const operator = [requireServiceCredential(credentials.operator), noStore];
  const reporter = [requireServiceCredential(credentials.reporter), noStore];
  const service = [requireServiceCredential(credentials.service)];
  serveBelow(app, roomsOf(OPERATOR_API), { chapters: OPERATOR_API, needs, guards: operator, checkAnswers });
  serveBelow(app, roomsOf(REPORTER_API), { chapters: REPORTER_API, needs, guards: reporter, checkAnswers });
  serveBelow(app, ['/private'], { chapters: SERVICE_API, needs, guards: service, checkAnswers });
  app.use(notFound, problemHandler(logger, parts.addressOf));
  return app;
}

/** Credentials of other callers are refused at every path below `rooms`, whether it exists or not. */
function serveBelow<const Chapters extends readonly Chapter[]>(
  app: Express,
  rooms: string[],
  options: {
    chapters: Chapters;
    needs: NeedsOf<Chapters>;
    guards: RequestHandler[];
    checkAnswers: boolean;
  },
): void {
  const { chapters, needs, guards, checkAnswers } = options;
  app.use(rooms, guards);
  serve(app, chapters, { needs, guards: { operator: [], reporter: [], service: [] }, checkAnswers });
  app.use(rooms, notFound);
}
