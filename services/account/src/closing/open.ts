import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createClosingMetrics, startClosing } from './worker.ts';

/** Settles usage with credits, and closes billing periods. */
export function openClosing({ config, pools, redis, logger, registry }: Platform): { workers: Worker[] } {
  const closing = createWorker(({ dueWatch }) =>
    startClosing({
      query: createQuery(pools.closing),
      transact: createTransact(pools.closing),
      redis,
      delaySec: config.CLOSING_DELAY_SEC,
      dueWatch,
      logger,
      metrics: createClosingMetrics(registry),
    }),
  );
  return { workers: [closing] };
}
