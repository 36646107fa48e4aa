import type { LockInstant } from '../billing/credits/changes.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createSnapshot, createTransact } from '../platform/database/query.ts';
import type { Transact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { startErasures } from './deletion/erasure-worker.ts';
import { createRunningExports } from './export/running-exports.ts';
import type { RunningExports } from './export/running-exports.ts';
import { startHousekeeping } from './housekeeping/housekeeping.ts';

/** What reaches through all domains: export and deletion of an account, and removal of what has expired. */
export function openLifecycle(
  { config, pools, logger }: Pick<Platform, 'config' | 'pools' | 'logger'>,
  { wakeMails, lockInstant }: { wakeMails: () => void; lockInstant: LockInstant },
): {
  needs: { deletionGraceDays: number; snapshot: Transact; runningExports: RunningExports };
  workers: Worker[];
} {
  const intervalSec = config.HOUSEKEEPING_INTERVAL_SEC;
  const housekeeping = createWorker(() =>
    startHousekeeping({
      query: createQuery(pools.mailsAndHousekeeping),
      intervalSec,
      sessionIdleTimeoutSec: config.SESSION_IDLE_TIMEOUT_SEC,
      retentionMonths: config.USAGE_RETENTION_MONTHS,
      deliveryRetentionSec: config.WEBHOOK_DELIVERY_RETENTION_SEC,
      refusedCallsRetentionDays: config.REFUSED_CALLS_RETENTION_DAYS,
      logger,
    }),
  );
  const transact = createTransact(pools.mailsAndHousekeeping);
  const erasures = createWorker(() =>
    startErasures({ transact, lockInstant, intervalSec, wakeMails, logger }),
  );
  return {
    needs: {
      deletionGraceDays: config.ACCOUNT_DELETION_GRACE_DAYS,
      snapshot: createSnapshot(pools.accountExports),
      runningExports: createRunningExports(),
    },
    workers: [housekeeping, erasures],
  };
}
