import type { Knex } from 'knex';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { createBacklogGauges } from '../../platform/outbox/backlog.ts';
import type { BacklogGauges } from '../../platform/outbox/backlog.ts';
import { drainOutbox } from '../../platform/outbox/drain.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import { takeRefreshes } from './refresh-outbox.ts';
import { createRefreshLive } from './refresh-script.ts';
import type { RefreshLive } from './refresh-script.ts';

export type RefresherMetrics = BacklogGauges & { refreshed: Pick<Counter<'outcome'>, 'inc'> };

export type RefresherOptions = {
  /** A pool of its own: a transaction lasts until Redis has replied. */
  database: Knex;
  redis: ScriptableRedis;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RefresherMetrics;
};

export type Refresher = {
  /** Processes new rows at once. */
  wake: () => void;
  close: () => Promise<void>;
};

const BATCH_ROWS = 500;

/**
 * Updates live counters after totals have changed outside the streams (docs/design/counting.md): right after the
 * commit, or within half a second by another process if this one has died. A row is deleted when Redis has acknowledged
 * it.
 */
export function startUsageRefresher(options: RefresherOptions): Refresher {
  const { database, redis, dueWatch, logger, metrics } = options;
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
      failed: 'live counters cannot be updated with reported usage; retrying',
      recovered: 'live counters are being updated with reported usage again',
    },
    due: { dueWatch, condition: 'EXISTS (SELECT FROM usage_refresh_outbox)' },
    logger,
  });
}

export function createRefresherMetrics(registry: Registry): RefresherMetrics {
  const rows = 'Changed totals that the live counters in Redis do not include yet';
  return {
    ...createBacklogGauges(registry, 'tollgate_usage_refresh_outbox', rows),
    refreshed: new Counter({
      name: 'tollgate_usage_refreshes_total',
      help: 'Changed totals sent to Redis by this process, by effect on the live counters: added, removed or unchanged',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}

async function refreshBatch(
  database: Knex,
  refreshLive: RefreshLive,
  metrics: Pick<RefresherMetrics, 'refreshed'>,
): Promise<number> {
  return createTransact(database)(async (query) => {
    const rows = await takeRefreshes(query, BATCH_ROWS);
    // Redis runs commands of one connection in the order in which they were sent.
    const outcomes = await Promise.all(rows.map(refreshLive));
    for (const outcome of outcomes) metrics.refreshed.inc({ outcome });
    return rows.length;
  });
}
