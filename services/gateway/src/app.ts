import type { RequestListener } from 'node:http';
import type { Express, RequestHandler } from 'express';
import helmet from 'helmet';
import type { Registry } from 'prom-client';
import type { StrictTransportSecurity } from '@tollgate/config/settings';
import type { Logger } from '@tollgate/log';
import { checkRedis } from '@tollgate/server/redis-check';
import { newRequestId } from '@tollgate/log/request-id';
import { requestLog } from '@tollgate/log/request-log';
import { notFound, problemHandler } from '@tollgate/http/error-handler';
import type { AddressOf } from '@tollgate/http/error-handler';
import { pathOf } from '@tollgate/http/request-head';
import type { RedisConnection } from '@tollgate/redis';
import { bareApp } from '@tollgate/server/bare-app';
import { probes } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import { apiVersionOf } from './http/data-paths.ts';
import { deferContinue } from './http/expect-continue.ts';
import type { HttpHandler, HttpRequest } from '@tollgate/plain-http/message';
import { below, oauthRefusalHandler, soundHead } from './passed-on/plain-routes.ts';
import { MCP_PATH } from '@tollgate/contracts/resource-servers';
import { noteRoute } from '@tollgate/server/metrics';
import type { Mcp } from './mcp/open-mcp.ts';
import { PROTECTED_RESOURCE_PATH } from './mcp/protected-resource.ts';
import type { Proxy } from './passed-on/proxy.ts';

/** The handler of a data path; null for other paths. */
type DataEndpointOf = (req: Pick<HttpRequest, 'url'>) => HttpHandler | null;

export function createDataEndpointOf(endpoints: { v2: HttpHandler; v1: HttpHandler | null }): DataEndpointOf {
  return (req) => {
    const apiVersion = apiVersionOf(req);
    return apiVersion === null ? null : endpoints[apiVersion];
  };
}

/** The public listener: the metered data paths without a framework, all else on Express. */
export function createPublicHandler(dataEndpointOf: DataEndpointOf, plainApp: Express): RequestListener {
  return (req, res) => {
    const dataEndpoint = dataEndpointOf(req);
    if (dataEndpoint === null) plainApp(req, res);
    else dataEndpoint(req, res);
  };
}

/** For requests that wait for `100 Continue`: data calls get it when their body is wanted. */
export function createContinueHandler(publicHandler: RequestListener): RequestListener {
  return (req, res) => {
    if (apiVersionOf(req) !== null) deferContinue(req, res);
    else res.writeContinue();
    publicHandler(req, res);
  };
}

/** The plain routes, for one-host set-ups. */
export function createPlainApp(parts: {
  logger: Logger;
  registry: Registry;
  addressOf: AddressOf;
  account: Pick<Proxy, 'handler'>;
  paymentEvents: Pick<Proxy, 'handler'>;
  liveUsage: Pick<Proxy, 'handler'>;
  auth: Pick<Proxy, 'handler'>;
  mcp: Pick<Mcp, 'endpoint' | 'metadata'> | null;
  strictTransportSecurity: StrictTransportSecurity;
}): Express {
  const { logger, registry, addressOf, account, paymentEvents, liveUsage, auth, mcp } = parts;
  const { strictTransportSecurity } = parts;
  const app = bareApp();
  app.use(
    requestLog(logger, newRequestId),
    httpMetrics(registry, 'public'),
    helmet({ strictTransportSecurity }),
    soundHead,
  );
  app.use(below('/api/usage', account.handler));
  app.use(below('/api/credits', account.handler));
  app.use(below('/api/console/usage/live', liveUsage.handler));
  app.use(below('/api/console', account.handler));
  app.use(below('/api/openapi.json', account.handler));
  app.use(below('/api/docs', account.handler));
  app.use(below('/docs', account.handler));
  app.use(below('/user', account.handler));
  app.use(below('/scim/v2', account.handler));
  app.use(below('/payments/stripe/events', paymentEvents.handler));
  // A page for people, in their session (docs/design/authorization.md).
  app.use(below('/oauth2/authorize', account.handler));
  app.use(below('/oauth2', auth.handler));
  app.use(below('/.well-known/oauth-authorization-server', auth.handler));
  if (mcp !== null) {
    app.use(at(MCP_PATH, mcp.endpoint), at(PROTECTED_RESOURCE_PATH, mcp.metadata));
  }
  app.use(notFound);
  app.use(oauthRefusalHandler(logger, addressOf), problemHandler(logger, addressOf));
  return app;
}

/** Routes the requests at a path, spelled exactly so, to a handler. */
function at(path: string, handler: RequestHandler): RequestHandler {
  return (req, res, next) => {
    if (pathOf(req) !== path) {
      next();
      return;
    }
    noteRoute(res, path);
    handler(req, res, next);
  };
}

/**
 * The private listener. Redis is the only readiness check: with others, an outage of auth, account or the upstream
 * would take all gateways out of service, and callers would get no error that says what is unavailable.
 */
export function createPrivateApp(parts: {
  logger: Logger;
  registry: Registry;
  redis: Pick<RedisConnection, 'del' | 'isCluster'>;
  draining: () => boolean;
}): Express {
  const { logger, registry, redis, draining } = parts;
  const app = bareApp();
  app.use(
    probes({
      checks: { redis: () => checkRedis(redis, (tag) => `${tag}:never`) },
      registry,
      draining,
    }),
    requestLog(logger),
  );
  app.use(notFound, problemHandler(logger));
  return app;
}
