import type { Knex } from 'knex';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { startLoop } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { databaseNow } from '../../platform/database/clock.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { ensurePartitions } from './partitions.ts';
import { dropOldestMonth, monthsAhead } from './hourly-rows.ts';
import { monthBefore } from './months.ts';

export type RetentionMetrics = {
  dropped: Pick<Counter, 'inc'>;
  failed: Pick<Counter, 'inc'>;
  monthsAhead: Pick<Gauge, 'set'>;
};

export type RetentionOptions = {
  database: Knex;
  /** Whole months that are kept before the present one. */
  retentionMonths: number;
  intervalSec: number;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RetentionMetrics;
};

const MONTHS_AHEAD = 2;

/** A long read that blocks a round has usually ended by then. */
const RETRY_MS = 5_000;

/**
 * Creates partitions of usage_hourly ahead, and drops those past retention (docs/design/counting.md). Every replica may
 * run it.
 */
export function startUsageRetention(options: RetentionOptions): Pick<BackgroundLoop, 'close'> {
  const { database, retentionMonths, intervalSec, logger, metrics } = options;
  const query = createQuery(database);
  const transact = createTransact(database);

  async function createUpcoming(now: Date): Promise<void> {
    const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => monthBefore(now, -ahead));
    await ensurePartitions(
      database,
      months.map((month) => month.getTime()),
    );
    metrics.monthsAhead.set(await monthsAhead(query, now));
  }

  /** By the earlier of two clocks: a wrong clock must not cost a month. */
  async function dropExpired(now: Date, signal: AbortSignal): Promise<void> {
    const keepFrom = monthBefore(new Date(Math.min(+now, Date.now())), retentionMonths);
    while (!signal.aborted) {
      const dropped = await dropOldestMonth(transact, keepFrom);
      if (typeof dropped === 'string') return;
      metrics.dropped.inc();
      logger.info({ ...dropped, kept_from: keepFrom }, 'a month of hourly usage was dropped');
    }
  }

  return startLoop(async (signal) => {
    const intervalMs = intervalSec * 1_000;
    try {
      const now = await databaseNow(query);
      await createUpcoming(now);
      await dropExpired(now, signal);
      return intervalMs;
    } catch (error) {
      metrics.failed.inc();
      logger.warn({ err: error }, 'partitions of hourly usage could not be created or dropped; retrying');
      return Math.min(intervalMs, RETRY_MS);
    }
  });
}

export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const registers = [registry];
  return {
    dropped: new Counter({
      name: 'tollgate_usage_months_dropped_total',
      help: 'Months of hourly usage dropped by this process',
      registers,
    }),
    failed: new Counter({
      name: 'tollgate_usage_retention_failures_total',
      help: 'Failed attempts to create or drop months; they are retried',
      registers,
    }),
    monthsAhead: new Gauge({
      name: 'tollgate_usage_months_ahead',
      help: 'Following months that already have a partition of hourly usage; 0 needs attention',
      registers,
    }),
  };
}
