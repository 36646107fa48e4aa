import type { Knex } from 'knex';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Transact } from '../platform/database/query.ts';
import type { DueWatch } from '../platform/background/due-watch.ts';
import type { OperatorNeeds } from '../api/operator.ts';
import { createRenewalMetrics, startRenewals } from '../billing/subscriptions/scheduler.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';

export function openBilling({
  server,
  transact,
  dueWatch,
  logger,
  registry,
  onTotalsChanged,
}: {
  server: PostgresServer;
  transact: Transact;
  dueWatch: DueWatch;
  logger: Logger;
  registry: Registry;
  /** Called after a rebuild, to update the live counters. */
  onTotalsChanged: () => void;
}): {
  operations: Pick<OperatorNeeds, 'transact' | 'checks'>;
  checkDatabase: Knex;
  close: () => Promise<void>;
} {
  const renewalDatabase = openDatabase({ server, logger, ...DATABASE_POOLS.renewals });
  const checkDatabase = openDatabase({ server, logger, ...DATABASE_POOLS.usageChecks });
  const renewals = startRenewals({
    database: renewalDatabase,
    dueWatch,
    logger,
    metrics: createRenewalMetrics(registry),
  });
  return {
    operations: {
      transact,
      checks: {
        query: createQuery(checkDatabase),
        transact: createTransact(checkDatabase),
        onTotalsChanged,
      },
    },
    checkDatabase,
    close: async () => {
      await renewals.close();
      await Promise.all([renewalDatabase.destroy(), checkDatabase.destroy()]);
    },
  };
}
