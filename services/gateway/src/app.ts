import type { RequestListener } from 'node:http';
import express from 'express';
import type { Express } from 'express';
import helmet from 'helmet';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { newRequestId } from '@tollgate/log/request-id';
import { requestLog } from '@tollgate/log/request-log';
import { notFound, problemHandler } from '@tollgate/problem/express';
import type { Redis } from '@tollgate/redis';
import { operationsRouter } from '@tollgate/server/health';
import { httpMetrics } from '@tollgate/server/metrics';
import { pathOf } from './headers/request-head.ts';
import { below, oauthUnavailableHandler, soundHead } from './plain-routes/plain-routes.ts';
import type { Proxy } from './plain-routes/proxy.ts';

const DATA_PATH = '/graphql';

/** The public listener: the metered data path on plain node:http, everything else on express. */
export function createPublicHandler(dataEndpoint: RequestListener, plainApp: Express): RequestListener {
  return (req, res) => {
    if (pathOf(req) === DATA_PATH) dataEndpoint(req, res);
    else plainApp(req, res);
  };
}

/** The plain routes of a one-host set-up, where the gateway is the only public door. */
export function createPlainApp(parts: {
  logger: Logger;
  registry: Registry;
  account: Pick<Proxy, 'handler'>;
  auth: Pick<Proxy, 'handler'>;
}): Express {
  const { logger, registry, account, auth } = parts;
  const app = express().disable('x-powered-by').disable('etag');
  app.use(requestLog(logger, newRequestId), httpMetrics(registry), helmet(), soundHead);
  app.use(below('/api/usage', account.handler));
  app.use(below('/user', account.handler));
  app.use(below('/oauth2', auth.handler));
  app.use(below('/.well-known/oauth-authorization-server', auth.handler));
  app.use(notFound);
  app.use(oauthUnavailableHandler(logger), problemHandler(logger));
  return app;
}

/**
 * The private listener: health and metrics. Redis is the only readiness check. Were the upstream, auth or
 * account among them, an outage of theirs would take every gateway out of service at once, and callers would
 * meet a closed door in place of the error that says what is away and when to come back.
 */
export function createPrivateApp(parts: {
  logger: Logger;
  registry: Registry;
  redis: Pick<Redis, 'ping'>;
  draining: () => boolean;
}): Express {
  const { logger, registry, redis, draining } = parts;
  const app = express().disable('x-powered-by').disable('etag');
  app.use(operationsRouter({ checks: { redis: () => redis.ping() }, registry, draining }));
  app.use(notFound, problemHandler(logger));
  return app;
}
