import { randomUUID } from 'node:crypto';
import { openIntrospection } from '@tollgate/introspection/open-introspection';
import type { Logger } from '@tollgate/log';
import { createPrivateApi } from '@tollgate/private-api/client';
import { openRedis } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import type { ComposeContext, Service } from '@tollgate/server';
import { createPlainApp, createPrivateApp, createPublicHandler } from './app.ts';
import type { Config } from './config.ts';
import { createAdmit } from './data-call/admit.ts';
import { createAuthenticate } from './data-call/authenticate.ts';
import { createDataEndpoint } from './data-call/data-call.ts';
import { createEntitle } from './data-call/entitle.ts';
import { createSettle } from './data-call/settle.ts';
import { createForwarder } from './forward/forward.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { AuthUnavailable, peerUnavailable } from './plain-routes/plain-routes.ts';
import { createProxy } from './plain-routes/proxy.ts';
import { createSendBatch } from './settlement/settle-script.ts';
import { createSettlement } from './settlement/settlement.ts';
import type { Settlement } from './settlement/settlement.ts';

/** Builds the gateway from its settings, and closes it again. */
export function compose({ config, logger, registry, draining }: ComposeContext<Config>): Promise<Service> {
  const metrics = createMetrics(registry);
  const redis = openRedis(config.REDIS_URL, logger);
  const settlement = composeSettlement(config, redis, logger, metrics);
  const peers = composePeers(config, metrics, logger);
  const upstream = createForwarder({
    upstreamUrl: config.UPSTREAM_URL,
    connections: config.UPSTREAM_CONNECTIONS,
    connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
    headersTimeoutMs: config.UPSTREAM_HEADERS_TIMEOUT_MS,
    bodyIdleTimeoutMs: config.UPSTREAM_BODY_IDLE_TIMEOUT_MS,
    maxRequestBodyBytes: config.MAX_REQUEST_BODY_BYTES,
    defaultPoints: config.DEFAULT_POINTS,
  });
  const account = createProxy(config.ACCOUNT_PUBLIC_URL, config.PLAIN_ROUTE_TIMEOUT_MS, peerUnavailable);
  const auth = createProxy(
    config.AUTH_PUBLIC_URL,
    config.PLAIN_ROUTE_TIMEOUT_MS,
    (cause) => new AuthUnavailable(cause),
  );

  const dataEndpoint = createDataEndpoint({
    authenticate: peers.authenticate,
    entitle: peers.entitle,
    admit: createAdmit(settlement),
    forward: upstream.forward,
    settle: createSettle(settlement),
    logger,
    onCall: metrics.onDataCall,
  });
  return Promise.resolve({
    publicHandler: createPublicHandler(dataEndpoint, createPlainApp({ logger, registry, account, auth })),
    privateHandler: createPrivateApp({ logger, registry, redis, draining }),
    close: async () => {
      // First of all: usage that isn't in Redis yet ends with this process.
      await settlement.flush();
      account.close();
      auth.close();
      await Promise.all([upstream.close(), peers.close()]);
      redis.disconnect();
    },
  });
}

function composeSettlement(config: Config, redis: Redis, logger: Logger, metrics: Metrics): Settlement {
  // Batches of several shards that are due at once go out in one write: with many payers that is a fifth of
  // the gateway's CPU.
  redis.options.enableAutoPipelining = true;
  const settlement = createSettlement({
    gatewayId: randomUUID(),
    send: createSendBatch(redis),
    redisIsReady: () => redis.status === 'ready',
    maxQueuedEvents: config.SETTLEMENT_QUEUE_MAX_EVENTS,
    logger,
    onBatch: (result) => {
      metrics.batches.inc({ result });
    },
  });
  metrics.observeQueue(settlement.queuedEvents);
  // However the process ends, a shutdown that Redis outlasted included: nothing is lost without a word.
  process.once('exit', () => {
    const lost = settlement.queuedEvents();
    if (lost > 0) logger.error({ lost_events: lost }, 'usage was lost: Redis has not acknowledged it');
  });
  return settlement;
}

function composePeers(config: Config, metrics: Metrics, logger: Logger) {
  const caller = {
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
  };
  const auth = createPrivateApi({ baseUrl: config.AUTH_PRIVATE_URL, ...caller });
  const account = createPrivateApi({ baseUrl: config.ACCOUNT_PRIVATE_URL, ...caller });
  const introspection = openIntrospection({
    config,
    auth,
    logger,
    onLookup: (outcome) => {
      metrics.introspections.inc({ outcome });
    },
  });
  return {
    authenticate: createAuthenticate(introspection),
    entitle: createEntitle({
      account,
      cacheTtlMs: config.ENTITLEMENT_CACHE_TTL_MS,
      cacheMaxEntries: config.ENTITLEMENT_CACHE_MAX_ENTRIES,
      onLookup: (outcome) => {
        metrics.entitlements.inc({ outcome });
      },
    }),
    close: async () => {
      introspection.close();
      await Promise.all([auth.close(), account.close()]);
    },
  };
}
