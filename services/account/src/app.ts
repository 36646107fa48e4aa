import express from 'express';
import type { Express } from 'express';
import type { Registry } from 'prom-client';
import type { Introspector } from '@tollgate/introspection';
import type { Logger } from '@tollgate/log';
import { requestLog } from '@tollgate/log/request-log';
import { requireServiceCredential } from '@tollgate/private-api/credential';
import type { ServiceCredential } from '@tollgate/private-api/credential';
import { methodNotAllowed, notFound, problemHandler } from '@tollgate/problem/express';
import { operationsRouter } from '@tollgate/server/health';
import type { ReadinessChecks } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import type { Applications } from './applications/applications.ts';
import {
  createEndpoint,
  deleteEndpoint,
  noStore,
  readEndpoint,
  revokeEndpoint,
  rotateSecretEndpoint,
} from './applications/endpoints.ts';
import { readJsonBody } from './applications/input.ts';
import { clientEndpoint } from './clients/client-endpoint.ts';
import type { Query } from './database/query.ts';
import { entitlementEndpoint } from './entitlements/entitlement-endpoint.ts';
import { usageEndpoint } from './usage-endpoint/usage-endpoint.ts';
import { browserProtection, userPage } from './user-page/user-page.ts';

type PublicParts = {
  logger: Logger;
  registry: Registry;
  query: Query;
  introspect: Introspector['introspect'];
};

type PrivateParts = {
  logger: Logger;
  registry: Registry;
  query: Query;
  applications: Applications;
  serviceCredentials: readonly ServiceCredential[];
  operatorCredentials: readonly ServiceCredential[];
  checks: ReadinessChecks;
  draining: () => boolean;
};

/** The public listener: what account holders and their programs call. */
export function createPublicApp({ logger, registry, query, introspect }: PublicParts): Express {
  const app = bareExpress();
  app.use(requestLog(logger), httpMetrics(registry), browserProtection);
  app.route('/api/usage').get(usageEndpoint(introspect, query)).all(methodNotAllowed('GET', 'HEAD'));
  app.route('/user').get(userPage).all(methodNotAllowed('GET', 'HEAD'));
  app.use(notFound, problemHandler(logger));
  return app;
}

/** The private listener: what the other services, probes and Prometheus call. */
export function createPrivateApp(parts: PrivateParts): Express {
  const { logger, registry, query, serviceCredentials, checks, draining } = parts;
  const app = bareExpress();
  app.use(operationsRouter({ checks, registry, draining }), requestLog(logger));
  operatorRoutes(app, parts);
  app.use('/private', requireServiceCredential(serviceCredentials));
  app.route('/private/clients/:client_id').get(clientEndpoint(query)).all(methodNotAllowed('GET', 'HEAD'));
  app
    .route('/private/entitlements/:account_id')
    .get(entitlementEndpoint(query))
    .all(methodNotAllowed('GET', 'HEAD'));
  app.use(notFound, problemHandler(logger));
  return app;
}

/** What operators call, with credentials of their own: the services' open nothing here. */
function operatorRoutes(
  app: Express,
  { applications, operatorCredentials }: Pick<PrivateParts, 'applications' | 'operatorCredentials'>,
): void {
  const path = '/private/applications';
  app.use(path, requireServiceCredential(operatorCredentials), noStore);
  app.route(path).post(readJsonBody, createEndpoint(applications)).all(methodNotAllowed('POST'));
  app
    .route(`${path}/:application_id`)
    .get(readEndpoint(applications))
    .delete(deleteEndpoint(applications))
    .all(methodNotAllowed('GET', 'HEAD', 'DELETE'));
  app
    .route(`${path}/:application_id/revoke`)
    .post(revokeEndpoint(applications))
    .all(methodNotAllowed('POST'));
  app
    .route(`${path}/:application_id/rotate-secret`)
    .post(readJsonBody, rotateSecretEndpoint(applications))
    .all(methodNotAllowed('POST'));
  app.use(path, notFound);
}

/** Express without what gives it away, and with paths taken literally. */
function bareExpress(): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  return app;
}
