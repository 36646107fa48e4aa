import type { LockInstant } from '../billing/credits/changes.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createSnapshot, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createLedgerCheckMetrics, startLedgerChecks } from './ledger-checks.ts';
import { createClosingMetrics, startClosing } from './worker.ts';

/** Settles usage with credits, closes billing periods, and checks the ledger. */
export function openClosing(
  { config, pools, redis, usageLanes, logger, registry }: Platform,
  { lockInstant }: { lockInstant: LockInstant },
): { workers: Worker[] } {
  const closing = createWorker(({ dueWatch }) =>
    startClosing({
      query: createQuery(pools.closing),
      transact: createTransact(pools.closing),
      redis,
      usageLanes,
      lockInstant,
      overuse: config.CREDITS_OVERUSE,
      delaySec: config.CLOSING_DELAY_SEC,
      dueWatch,
      logger,
      metrics: createClosingMetrics(registry),
    }),
  );
  const ledgerChecks = createWorker(() =>
    startLedgerChecks({
      query: createQuery(pools.usageChecks),
      snapshot: createSnapshot(pools.usageChecks),
      intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
      logger,
      metrics: createLedgerCheckMetrics(registry),
    }),
  );
  return { workers: [closing, ledgerChecks] };
}
