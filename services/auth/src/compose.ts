import { createPrivateApi } from '@tollgate/private-api/client';
import { openRedis } from '@tollgate/redis';
import type { ComposeContext, Service } from '@tollgate/server';
import { createPrivateApp, createPublicApp } from './app.ts';
import { createClientAuthenticator } from './client/authenticator.ts';
import { createClientDirectory } from './client/directory.ts';
import type { Config } from './config.ts';
import { createMetrics } from './metrics.ts';
import { createTokenStore } from './token/store.ts';

/** Builds auth from its settings. Needs neither Redis nor account to start: readiness tells what is away. */
export function compose(context: ComposeContext<Config>): Promise<Service> {
  const { config, logger, registry, draining } = context;
  const redis = openRedis(config.REDIS_URL, logger);
  const account = createPrivateApi({
    baseUrl: config.ACCOUNT_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
  });
  const clients = createClientDirectory({ redis, account, cacheTtlMs: config.CLIENT_CACHE_TTL_MS });
  const parts = {
    logger,
    registry,
    draining,
    redis,
    metrics: createMetrics(registry),
    authenticate: createClientAuthenticator({ clients, peppers: config.CLIENT_SECRET_PEPPERS }),
    tokens: createTokenStore(redis),
    tokenPrefix: config.TOKEN_PREFIX,
    maxBodyBytes: config.MAX_BODY_BYTES,
    serviceCredentials: config.SERVICE_CREDENTIALS,
  };
  return Promise.resolve({
    publicHandler: createPublicApp(parts),
    privateHandler: createPrivateApp(parts),
    close: async () => {
      await account.close();
      redis.disconnect();
    },
  });
}
