import type { Knex } from 'knex';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { createBacklogGauges } from '../../platform/outbox/backlog.ts';
import type { BacklogGauges } from '../../platform/outbox/backlog.ts';
import { drainOutbox } from '../../platform/outbox/drain.ts';
import { startWorkLoop } from '../../platform/timing/work-loop.ts';
import { takeRefreshes } from './refresh-outbox.ts';
import { createRefreshLive } from './refresh-script.ts';
import type { RefreshLive } from './refresh-script.ts';

export type RefresherMetrics = BacklogGauges & { refreshed: Pick<Counter<'outcome'>, 'inc'> };

export type RefresherOptions = {
  /** A pool of its own: a transaction lasts until Redis has answered. */
  database: Knex;
  redis: ScriptableRedis;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RefresherMetrics;
};

export type Refresher = {
  /** Looks for rows now: what has just been committed is in the gateways' counters milliseconds later. */
  wake: () => void;
  close: () => Promise<void>;
};

/** Rows of one transaction, and scripts under way to Redis, at most. */
const BATCH_ROWS = 500;

/**
 * Tells Redis of totals that have changed by no stream (ADR 0029): right after the commit by the process that made
 * it, within half a second by any other where that one has died. A row goes when Redis has acknowledged it.
 */
export function startUsageRefresher(options: RefresherOptions): Refresher {
  const { database, redis, logger, metrics } = options;
  const query = createQuery(database);
  const refreshLive = createRefreshLive(redis);
  return startWorkLoop({
    work: () =>
      drainOutbox({
        query,
        table: 'usage_refresh_outbox',
        metrics,
        batchRows: BATCH_ROWS,
        takeBatch: () => refreshBatch(database, refreshLive, metrics),
      }),
    messages: {
      failed: 'live counters wait to be told of reported usage; trying again',
      recovered: 'live counters are told of reported usage again',
    },
    logger,
  });
}

/** Metrics of the refresher. */
export function createRefresherMetrics(registry: Registry): RefresherMetrics {
  const rows = 'Changed totals that the live counters in Redis do not contain yet';
  return {
    ...createBacklogGauges(registry, 'tollgate_usage_refresh_outbox', rows),
    refreshed: new Counter({
      name: 'tollgate_usage_refreshes_total',
      help: 'Changed totals that this process has told Redis of, by what became of the live counters: added, removed or unchanged',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}

/** Tells of what is taken at once, in order of each period, and gives how many rows that was. */
async function refreshBatch(
  database: Knex,
  refreshLive: RefreshLive,
  metrics: Pick<RefresherMetrics, 'refreshed'>,
): Promise<number> {
  return createTransact(database)(async (query) => {
    const rows = await takeRefreshes(query, BATCH_ROWS);
    // Commands of one connection, and one shard, are carried out in the order in which they are sent.
    const outcomes = await Promise.all(rows.map(refreshLive));
    for (const outcome of outcomes) metrics.refreshed.inc({ outcome });
    return rows.length;
  });
}
