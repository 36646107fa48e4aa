import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { startRounds } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { findDifferences } from '../billing/credits/differences.ts';
import { listHolders } from '../billing/credits/store.ts';
import type { Query, Transact } from '../platform/database/query.ts';

export type LedgerCheckOptions = {
  query: Query;
  /** One read-only moment. */
  snapshot: Transact;
  intervalSec: number;
  logger: Pick<Logger, 'warn' | 'error'>;
  metrics: { found: Pick<Counter, 'inc'> };
};

/** Accounts in one interval. */
const CHECKED_AT_ONCE = 100;

/**
 * Recomputes the credits of some accounts in each interval, one group after the other, and of those that have differed
 * before. What differs is kept in `credit_differences` until it doesn't any more; nothing is corrected.
 */
export function startLedgerChecks(options: LedgerCheckOptions): Pick<BackgroundLoop, 'close'> {
  let last = 0;
  return startRounds(options.intervalSec * 1_000, async () => {
    try {
      last = await checkNext(options, last);
    } catch (error) {
      options.logger.warn({ err: error }, 'credits cannot be checked; retrying at the next interval');
    }
  });
}

export function createLedgerCheckMetrics(registry: Registry): LedgerCheckOptions['metrics'] {
  return {
    found: new Counter({
      name: 'tollgate_credit_differences_total',
      help: 'Accounts whose credits this process has found to differ from their movements, and that had not differed before',
      registers: [registry],
    }),
  };
}

/** Returns the last account of the group; 0 after the last one of all. */
async function checkNext(
  { query, snapshot, logger, metrics }: LedgerCheckOptions,
  last: number,
): Promise<number> {
  const group = await listHolders(query, last, CHECKED_AT_ONCE);
  const known = await query<{ account_id: number }>('SELECT account_id FROM credit_differences');
  const checked = [...new Set([...group, ...known.map(({ account_id }) => account_id)])];
  const differences = await snapshot((inside) => findDifferences(inside, checked));
  const differing = differences.map(({ account_id }) => account_id);
  await query(
    `DELETE FROM credit_differences WHERE account_id = ANY (CAST(:checked AS bigint[]))
       AND account_id <> ALL (CAST(:differing AS bigint[]))`,
    { checked, differing },
  );
  for (const { account_id, fault, movement_id } of differences) {
    const added = await query(
      `INSERT INTO credit_differences (account_id, fault, movement_id)
       VALUES (:account_id, :fault, :movement_id) ON CONFLICT DO NOTHING RETURNING account_id`,
      { account_id, fault, movement_id },
    );
    if (added.length === 0) continue;
    metrics.found.inc();
    logger.error({ account_id, fault, movement_id }, 'the credits of an account differ from their movements');
  }
  return group.length < CHECKED_AT_ONCE ? 0 : (group.at(-1) ?? 0);
}
