import type { LockInstant } from '../billing/credits/changes.ts';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createSnapshot, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { UNKNOWN, createCountedUntil } from './counted.ts';
import { createLedgerCheckMetrics, startLedgerChecks } from './ledger-checks.ts';
import { createClosingMetrics, startClosing } from './worker.ts';

/** Settles usage with credits, closes billing periods, and checks the ledger. */
export function openClosing(
  { config, pools, redis, usageLanes, logger, registry }: Platform,
  { lockInstant }: { lockInstant: LockInstant },
): {
  needs: {
    /** Whether the account's usage shows that Postgres was restored from a backup, and isn't repaired. */
    isRestored: (accountId: number) => Promise<boolean>;
  };
  workers: Worker[];
} {
  const closing = createWorker(({ dueWatch }) =>
    startClosing({
      query: createQuery(pools.closing),
      transact: createTransact(pools.closing),
      redis,
      usageLanes,
      lockInstant,
      overuse: config.CREDITS_OVERUSE,
      delaySec: config.CLOSING_DELAY_SEC,
      hasPayments: config.PAYMENTS !== 'none',
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
  const query = createQuery(pools.closing);
  const isRestored = async (accountId: number) =>
    (await createCountedUntil(query, redis)(accountId)) === UNKNOWN;
  return { needs: { isRestored }, workers: [closing, ledgerChecks] };
}
