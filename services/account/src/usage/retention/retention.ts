import type { Knex } from 'knex';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import { databaseNow } from '../../platform/database/clock.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { pause } from '../../platform/timing/pause.ts';
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
  /** So many whole months before the present one are kept. */
  retentionMonths: number;
  intervalSec: number;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RetentionMetrics;
};

/** So many months have their partition before they begin. */
const MONTHS_AHEAD = 2;

/** A round that fails is tried again after this time: a reader that was in the way is done by then. */
const RETRY_MS = 5_000;

/**
 * Keeps usage_hourly to the months that it is to have (ADR 0029): makes those to come, drops those that are over.
 * It may run in every replica at once. Totals are another table, and stay.
 */
export function startUsageRetention(options: RetentionOptions): { close: () => Promise<void> } {
  const { database, retentionMonths, intervalSec, logger, metrics } = options;
  const query = createQuery(database);
  const transact = createTransact(database);
  const stopping = new AbortController();
  const { signal } = stopping;

  async function makeAhead(now: Date): Promise<void> {
    const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => monthBefore(now, -ahead));
    await ensurePartitions(
      database,
      months.map((month) => month.getTime()),
    );
    metrics.monthsAhead.set(await monthsAhead(query, now));
  }

  /** By the earlier of two clocks: one that has gone wrong must not cost a month. */
  async function dropOld(now: Date): Promise<void> {
    const keepFrom = monthBefore(new Date(Math.min(+now, Date.now())), retentionMonths);
    while (!signal.aborted) {
      const dropped = await dropOldestMonth(transact, keepFrom);
      if (typeof dropped === 'string') return;
      metrics.dropped.inc();
      logger.info({ ...dropped, kept_from: keepFrom }, 'a month of hourly usage was dropped');
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let restMs = intervalSec * 1_000;
      try {
        const now = await databaseNow(query);
        await makeAhead(now);
        await dropOld(now);
      } catch (error) {
        metrics.failed.inc();
        logger.warn({ err: error }, 'the months of hourly usage could not be tended; trying again');
        restMs = Math.min(restMs, RETRY_MS);
      }
      await pause(restMs, signal);
    }
  }

  const running = run();
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Metrics of the retention. */
export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  const registers = [registry];
  return {
    dropped: new Counter({
      name: 'tollgate_usage_months_dropped_total',
      help: 'Months of hourly usage that this process has dropped',
      registers,
    }),
    failed: new Counter({
      name: 'tollgate_usage_retention_failures_total',
      help: 'Rounds in which months could not be made or dropped, and which are tried again',
      registers,
    }),
    monthsAhead: new Gauge({
      name: 'tollgate_usage_months_ahead',
      help: 'Months to come that have a partition of hourly usage already; 0 needs looking at',
      registers,
    }),
  };
}
