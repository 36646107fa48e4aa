import { redisTls } from '@tollgate/config/store-tls';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { observeReconnects } from '@tollgate/redis/metrics';
import { followClock } from '@tollgate/server/reference-clock';
import type { ReferenceClock } from '@tollgate/server/reference-clock';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';

/** Redis, and its clock. */
export type Store = { redis: RedisConnection; clock: ReferenceClock };

export function openStore({ config, logger, registry }: ComposeContext<Config>): Store {
  const redis = openRedis(config.REDIS_URL, logger, { tls: redisTls(config) });
  // Commands that are due at once go out in one write: with many payers that is a fifth of the gateway's CPU.
  batchWrites(redis);
  observeReconnects(redis, registry);
  const clock = followClock({ reference: 'redis', readMs: () => redisTimeMs(redis), registry, logger });
  return { redis, clock };
}
