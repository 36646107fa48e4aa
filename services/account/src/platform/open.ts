import type { Knex } from 'knex';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { databaseTls, redisTls } from '@tollgate/config/store-tls';
import { openRedis, redisTimeMs } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { batchWrites } from '@tollgate/redis/batch-writes';
import { observeReconnects } from '@tollgate/redis/metrics';
import type { ReadinessChecks } from '@tollgate/server/health';
import { checkRedis } from '@tollgate/server/redis-check';
import { followClock } from '@tollgate/server/reference-clock';
import { Refusal } from '@tollgate/server/refusal';
import type { Config } from '../config.ts';
import { startBackground } from './background/background.ts';
import type { Background } from './background/worker.ts';
import { observePostgres } from './database/metrics.ts';
import { openPools } from './database/pools.ts';
import type { PoolName, PoolSizes } from './database/pools.ts';
import { createPostgresServer, isReadOnly } from './database/postgres-server.ts';
import type { PostgresServer } from './database/postgres-server.ts';
import { createQuery, createTransact } from './database/query.ts';
import type { Query, Transact } from './database/query.ts';
import { checkSchemaServesThisVersion } from './database/schema-version.ts';
import { checkSettings } from './database/session-settings.ts';
import { createUsageLanes } from './usage-lanes.ts';
import type { UsageLanes } from './usage-lanes.ts';

/** What domains are built with; each takes the little that it needs. */
export type Platform = {
  config: Config;
  logger: Logger;
  registry: Registry;
  pools: Readonly<Record<PoolName, Knex>>;
  /** On the pool for requests. */
  query: Query;
  /** The same. */
  transact: Transact;
  redis: RedisConnection;
  usageLanes: UsageLanes;
  /** Stamps usage. Postgres' clock decides which period applies. */
  redisNowMs: () => number;
};

/**
 * Starts without Postgres and Redis; readiness reports which are unavailable.
 * @throws {Refusal} if the schema is too new (docs/design/stores.md)
 */
export async function openPlatform(
  { config, logger, registry }: Pick<Platform, 'config' | 'logger' | 'registry'>,
  sizes: PoolSizes,
): Promise<
  Platform & {
    checks: ReadinessChecks;
    /** `channels`: of Postgres, which workers listen to. */
    startBackground: (channels: readonly string[]) => Background & { close: () => Promise<void> };
    close: () => Promise<void>;
  }
> {
  const server = createPostgresServer({
    url: config.DATABASE_URL,
    tls: databaseTls(config),
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
  });
  const pools = openPools(server, sizes, logger);
  const query = createQuery(pools.requests);
  // Before the first connection, so that its certificate is observed.
  observePostgres(registry, query);
  const usageLanes = createUsageLanes(query, {
    setting: config.USAGE_LANES,
    redisUrl: config.REDIS_URL,
  });
  await checkDatabase(query, usageLanes).catch(throwRefusal);
  const redis = openRedis(config.REDIS_URL, logger, { tls: redisTls(config) });
  // The usage reader reads 64 streams by a command each.
  batchWrites(redis);
  observeReconnects(redis, registry);
  const redisClock = followClock({ reference: 'redis', readMs: () => redisTimeMs(redis), registry, logger });
  const readMs = () => readPostgresMs(query);
  const postgresClock = followClock({ reference: 'postgres', readMs, registry, logger });
  return {
    config,
    logger,
    registry,
    pools,
    query,
    transact: createTransact(pools.requests),
    redis,
    usageLanes,
    redisNowMs: redisClock.nowMs,
    checks: {
      postgres: () => checkPostgres(query, usageLanes, server),
      redis: () => checkRedis(redis, (tag) => `${tag}:never`),
    },
    startBackground: (channels) => startBackground({ server, query: createQuery(pools.dueWork), channels }),
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
      redisClock.close();
      postgresClock.close();
      redis.disconnect();
    },
  };
}

/** @throws {Refusal} if the service can't work with this database */
async function checkDatabase(query: Query, usageLanes: UsageLanes): Promise<void> {
  await checkSettings(query);
  await checkSchemaServesThisVersion(query);
  await usageLanes();
}

/** Readiness: a server that has become read-only is left, in case its successor has the same address. */
async function checkPostgres(query: Query, usageLanes: UsageLanes, server: PostgresServer): Promise<void> {
  await checkDatabase(query, usageLanes);
  if (!(await isReadOnly(query))) return;
  server.replaceConnections();
  throw new Refusal('Postgres is read-only.');
}

/** Without Postgres, the service starts all the same. */
function throwRefusal(error: unknown): void {
  if (error instanceof Refusal) throw error;
}

async function readPostgresMs(query: Query): Promise<number> {
  const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms';
  const [row] = await query<{ now_ms: number }>(sql);
  return row?.now_ms ?? NaN;
}
