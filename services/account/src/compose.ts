import { openIntrospection } from '@tollgate/introspection/open-introspection';
import type { Logger } from '@tollgate/log';
import { createPrivateApi } from '@tollgate/private-api/client';
import { openRedis } from '@tollgate/redis';
import type { ComposeContext, Service } from '@tollgate/server';
import { createPrivateApp, createPublicApp } from './app.ts';
import { createApplications } from './applications/applications.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import { createQuery, createTransact } from './database/query.ts';
import { createOutboxMetrics } from './outbox/metrics.ts';
import { startRevocationOutbox } from './outbox/revocation-outbox.ts';
import { createUsageReaderMetrics } from './usage-reader/metrics.ts';
import { startUsageReader } from './usage-reader/usage-reader.ts';

/** Waiting for Postgres ends before the callers' own patience (PRIVATE_API_TIMEOUT_MS) does. */
const REQUEST_TIMEOUTS = { acquireTimeoutMs: 1_000, statementTimeoutMs: 1_500 };

/** Nobody waits for the reader, and its transactions are larger. */
const READER_TIMEOUTS = { acquireTimeoutMs: 5_000, statementTimeoutMs: 10_000 };

/** Builds account from its settings. Needs nothing else to start: readiness tells what is away. */
export function compose({ config, logger, registry, draining }: ComposeContext<Config>): Promise<Service> {
  const { database, readerDatabase, outboxDatabase } = openDatabases(config, logger);
  const redis = openRedis(config.REDIS_URL, logger);
  const blockingRedis = openRedis(config.REDIS_URL, logger, 0);
  const auth = createPrivateApi({
    baseUrl: config.AUTH_PRIVATE_URL,
    credential: { id: config.SERVICE_CLIENT_ID, secret: config.SERVICE_CLIENT_SECRET },
    timeoutMs: config.PRIVATE_API_TIMEOUT_MS,
  });
  const introspection = openIntrospection({ config, auth, logger });
  const query = createQuery(database);
  const usageReader = startUsageReader({
    database: readerDatabase,
    blockingRedis,
    redis,
    logger,
    metrics: createUsageReaderMetrics(registry),
  });
  const outbox = startRevocationOutbox({
    query: createQuery(outboxDatabase),
    auth,
    deliveryTimeoutMs: config.PRIVATE_API_TIMEOUT_MS,
    logger,
    metrics: createOutboxMetrics(registry),
  });
  const applications = createApplications({
    transact: createTransact(database),
    query,
    peppers: config.CLIENT_SECRET_PEPPERS,
    deliver: outbox.deliver,
  });
  const checks = { postgres: () => query('SELECT 1'), redis: () => redis.ping() };
  const credentials = {
    serviceCredentials: config.SERVICE_CREDENTIALS,
    operatorCredentials: config.OPERATOR_CREDENTIALS,
  };
  return Promise.resolve({
    publicHandler: createPublicApp({ logger, registry, query, introspect: introspection.introspect }),
    privateHandler: createPrivateApp({
      logger,
      registry,
      query,
      applications,
      checks,
      draining,
      ...credentials,
    }),
    close: async () => {
      await Promise.all([usageReader.close(), outbox.close()]);
      await Promise.all([
        auth.close(),
        database.destroy(),
        readerDatabase.destroy(),
        outboxDatabase.destroy(),
      ]);
      introspection.close();
      redis.disconnect();
    },
  });
}

/** Pools of their own, so that requests, the counting of usage and revocations can't starve one another. */
function openDatabases(
  { DATABASE_URL: url, DATABASE_POOL_MAX: poolMax }: Pick<Config, 'DATABASE_URL' | 'DATABASE_POOL_MAX'>,
  logger: Logger,
) {
  return {
    database: openDatabase({ url, poolMax, logger, ...REQUEST_TIMEOUTS }),
    readerDatabase: openDatabase({ url, poolMax: 1, logger, ...READER_TIMEOUTS }),
    outboxDatabase: openDatabase({ url, poolMax: 2, logger, ...REQUEST_TIMEOUTS }),
  };
}
