import type { Counter } from 'prom-client';
import type { LockInstant } from '../billing/credits/changes.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Query, Transact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { startLaneGrowth } from './lanes/growth.ts';
import { createUsageReaderMetrics, observeStreams } from './reader/metrics.ts';
import { startUsageReader } from './reader/usage-reader.ts';
import { createRefresherMetrics, startUsageRefresher } from './refresh/refresher.ts';
import { createRepairUsage } from './repairs/repair.ts';
import type { RepairUsage } from './repairs/repair.ts';
import { createCountReport } from './reports/count-report.ts';
import type { CountReport } from './reports/count-report.ts';
import { createReportedEvents } from './reports/operations.ts';
import { createRetentionMetrics, startUsageRetention } from './retention/retention.ts';
import { createLockInstant } from './stream/lock-instant.ts';
import { createCountUnassigned } from './unassigned/count.ts';

/** What gateways and other systems report, counted once. */
export function openCounting({ config, pools, redis, redisNowMs, logger, registry }: Platform): {
  needs: {
    countReport: CountReport;
    reportedEvents: Counter<'outcome'>;
    countUnassigned: ReturnType<typeof createCountUnassigned>;
    checks: { query: Query; transact: Transact; onTotalsChanged: () => void };
    repairUsage: RepairUsage;
    lockInstant: LockInstant;
  };
  workers: Worker[];
} {
  const retentionMonths = config.USAGE_RETENTION_MONTHS;
  const reader = createWorker(() => {
    observeStreams(registry, redis);
    return startUsageReader({
      database: pools.usageReader,
      redis,
      intervalMs: config.USAGE_POLL_INTERVAL_MS,
      logger,
      metrics: createUsageReaderMetrics(registry, redisNowMs),
      nowMs: redisNowMs,
    });
  });
  const laneGrowth = createWorker(({ dueWatch }) =>
    startLaneGrowth({
      query: createQuery(pools.usageChecks),
      transact: createTransact(pools.usageChecks),
      redis,
      setting: config.USAGE_LANES,
      dueWatch,
      logger,
    }),
  );
  const refresher = createWorker(({ dueWatch }) =>
    startUsageRefresher({
      database: pools.usageRefresher,
      redis,
      dueWatch,
      logger,
      metrics: createRefresherMetrics(registry),
    }),
  );
  const retention = createWorker(() =>
    startUsageRetention({
      database: pools.usageRetention,
      retentionMonths,
      intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
      logger,
      metrics: createRetentionMetrics(registry),
    }),
  );
  const onTotalsChanged = refresher.wake;
  return {
    needs: {
      countReport: createCountReport({
        database: pools.requests,
        retentionMonths,
        onCounted: onTotalsChanged,
      }),
      reportedEvents: createReportedEvents(registry),
      countUnassigned: createCountUnassigned(pools.requests, onTotalsChanged),
      checks: {
        query: createQuery(pools.usageChecks),
        transact: createTransact(pools.usageChecks),
        onTotalsChanged,
      },
      repairUsage: createRepairUsage({ database: pools.usageChecks, redis, onTotalsChanged }),
      lockInstant: createLockInstant(redis),
    },
    workers: [reader, laneGrowth, refresher, retention],
  };
}
