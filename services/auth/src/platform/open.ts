import { redisTls } from '@tollgate/config/store-tls';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { observeReconnects, observeServers } from '@tollgate/redis/metrics';
import type { ComposeContext } from '@tollgate/server';
import type { ReadinessChecks } from '@tollgate/server/health';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { checkRedis } from '@tollgate/server/redis-check';
import { followClock } from '@tollgate/server/reference-clock';
import { currentTraceFields } from '@tollgate/trace/service-traces';
import type { Config } from '../config.ts';
import { refuseEvictingRedis } from '../redis/eviction-policy.ts';

/** What domains are built with; each takes the little that it needs. */
export type Platform = Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry' | 'addressOf'> & {
  redis: RedisConnection;
  /** By Redis' clock. */
  nowMs: () => number;
  account: PrivateApi;
};

/** Starts without Redis and account too; readiness reports that Redis is unavailable. */
export async function openPlatform({
  config,
  logger,
  registry,
  addressOf,
}: Omit<Platform, 'redis' | 'nowMs' | 'account'>): Promise<
  Platform & { checks: ReadinessChecks; close: () => Promise<void> }
> {
  const redis = openRedis(config.REDIS_URL, logger, { tls: redisTls(config) });
  batchWrites(redis);
  observeReconnects(redis, registry);
  observeServers(redis, registry);
  const clock = followClock({ reference: 'redis', readMs: () => redisTimeMs(redis), registry, logger });
  if (!config.ALLOW_EVICTING_REDIS) await refuseEvictingRedis(redis, logger);
  const account = createPrivateApi({
    baseUrl: config.ACCOUNT_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    traceFields: currentTraceFields,
    onConnected: observeCertificates(registry)('account', config.ACCOUNT_PRIVATE_URL),
  });
  return {
    config,
    logger,
    registry,
    addressOf,
    redis,
    nowMs: clock.nowMs,
    account,
    // Not account: without it auth still introspects, and must not be taken out of service too.
    checks: { redis: () => checkRedis(redis, (tag) => `auth:never:${tag}`) },
    close: async () => {
      await account.close();
      clock.close();
      redis.disconnect();
    },
  };
}
