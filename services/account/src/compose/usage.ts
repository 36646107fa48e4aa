import type { Knex } from 'knex';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import type { ReferenceClock } from '@tollgate/server/reference-clock';
import type { Config } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import { createUsageReaderMetrics, observeStreams } from '../counting/reader/metrics.ts';
import { READER_CONNECTIONS, startUsageReader } from '../counting/reader/usage-reader.ts';
import { createRefresherMetrics, startUsageRefresher } from '../counting/refresh/refresher.ts';
import { createCountReport } from '../counting/reports/count-report.ts';
import { createReportedEvents } from '../counting/reports/operations.ts';
import type { ReportNeeds } from '../counting/reports/operations.ts';
import { createCountUnassigned } from '../counting/unassigned/count.ts';
import { createRetentionMetrics, startUsageRetention } from '../counting/retention/retention.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';

export function openUsage(options: {
  config: Pick<Config, 'USAGE_POLL_INTERVAL_MS' | 'USAGE_RETENTION_MONTHS' | 'HOUSEKEEPING_INTERVAL_SEC'>;
  server: PostgresServer;
  database: Knex;
  redis: RedisConnection;
  dueWatch: DueWatch;
  redisClock: Pick<ReferenceClock, 'nowMs'>;
  logger: Logger;
  registry: Registry;
}): {
  operations: ReportNeeds & { countUnassigned: ReturnType<typeof createCountUnassigned> };
  onTotalsChanged: () => void;
  close: () => Promise<void>;
} {
  const { config, server, database, redis, dueWatch, logger, registry } = options;
  const { nowMs } = options.redisClock;
  const readerDatabase = openDatabase({
    server,
    poolMax: READER_CONNECTIONS,
    logger,
    ...DATABASE_POOLS.usageReader,
  });
  const refresherDatabase = openDatabase({ server, logger, ...DATABASE_POOLS.usageRefresher });
  const retentionDatabase = openDatabase({ server, logger, ...DATABASE_POOLS.usageRetention });
  const retentionMonths = config.USAGE_RETENTION_MONTHS;
  observeStreams(registry, redis);
  const reader = startUsageReader({
    database: readerDatabase,
    redis,
    intervalMs: config.USAGE_POLL_INTERVAL_MS,
    logger,
    metrics: createUsageReaderMetrics(registry, nowMs),
    nowMs,
  });
  const refresher = startUsageRefresher({
    database: refresherDatabase,
    redis,
    dueWatch,
    logger,
    metrics: createRefresherMetrics(registry),
  });
  const retention = startUsageRetention({
    database: retentionDatabase,
    retentionMonths,
    intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
    logger,
    metrics: createRetentionMetrics(registry),
  });
  return {
    operations: {
      countReport: createCountReport({ database, retentionMonths, onCounted: refresher.wake }),
      reportedEvents: createReportedEvents(registry),
      countUnassigned: createCountUnassigned(database, refresher.wake),
    },
    onTotalsChanged: refresher.wake,
    close: async () => {
      await Promise.all([reader, refresher, retention].map((each) => each.close()));
      const databases = [readerDatabase, refresherDatabase, retentionDatabase];
      await Promise.all(databases.map((each) => each.destroy()));
    },
  };
}
