import { createPrivateApi } from '@tollgate/private-api/client';
import { openRedis } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import type { ComposeContext, Service } from '@tollgate/server';
import { createFailedAttempts } from './abuse/failed-attempts.ts';
import { createTokenRequestLimit } from './abuse/token-requests.ts';
import { createPrivateApp, createPublicApp } from './app.ts';
import { createClientAuthenticator } from './client/authenticator.ts';
import { createClientStore } from './client/client-store.ts';
import { createClientDirectory } from './client/directory.ts';
import type { Config } from './config.ts';
import { refuseEvictingRedis } from './eviction-policy.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { createFindLiveToken } from './token/live-token.ts';
import { createTokenStore } from './token/store.ts';

/** Builds auth from its settings. Needs neither Redis nor account to start: readiness tells what is away. */
export async function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, registry, draining } = context;
  const redis = openRedis(config.REDIS_URL, logger);
  // Commands of one turn of the event loop go out in one write: a socket write for each was a sixth of the time.
  redis.options.enableAutoPipelining = true;
  if (!config.ALLOW_EVICTING_REDIS) await refuseEvictingRedis(redis, logger);
  const account = createPrivateApi({
    baseUrl: config.ACCOUNT_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
  });
  const clients = createClientDirectory({
    store: createClientStore(redis, config.CLIENT_CACHE_TTL_MS),
    account,
    cacheTtlMs: config.CLIENT_CACHE_TTL_MS,
    unknownMaxEntries: config.UNKNOWN_CLIENT_CACHE_MAX_ENTRIES,
  });
  const metrics = createMetrics(registry);
  const { failedAttempts, countTokenRequest } = composeLimits(config, redis, metrics);
  const tokens = createTokenStore(redis);
  const parts = {
    logger,
    registry,
    draining,
    redis,
    metrics,
    authenticate: createClientAuthenticator({
      clients,
      peppers: config.CLIENT_SECRET_PEPPERS,
      failedAttempts,
    }),
    countTokenRequest,
    issuer: config.ISSUER_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    introspectionsPerCallerPerSec: config.INTROSPECTIONS_PER_CALLER_PER_SEC,
    tokens,
    clients,
    findLiveToken: createFindLiveToken({ tokens, clients }),
    tokenPrefix: config.TOKEN_PREFIX,
    maxBodyBytes: config.MAX_BODY_BYTES,
    serviceCredentials: config.SERVICE_CREDENTIALS,
  };
  return {
    publicHandler: createPublicApp(parts),
    privateHandler: createPrivateApp(parts),
    close: async () => {
      await account.close();
      redis.disconnect();
    },
  };
}

function composeLimits(config: Config, redis: Redis, metrics: Metrics) {
  return {
    failedAttempts: createFailedAttempts({
      redis,
      limits: {
        perClientAndAddress: config.FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS,
        perAddress: config.FAILED_ATTEMPTS_PER_ADDRESS,
        windowMs: config.FAILED_ATTEMPTS_WINDOW_SEC * 1_000,
      },
      onLimited: (limit) => {
        metrics.limited.inc({ limit });
      },
    }),
    countTokenRequest: createTokenRequestLimit({
      redis,
      perMinute: config.TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE,
      onLimited: () => {
        metrics.limited.inc({ limit: 'client' });
      },
    }),
  };
}
