import { openEntryWatch } from '@tollgate/redis/await-entries';
import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { createRefusedCallMetrics, startRefusedCallReader } from './reader.ts';

/** Records of refused and failed calls. */
export function openRefusals({ pools, redis, logger, registry }: Platform): { workers: Worker[] } {
  const reader = createWorker(() =>
    startRefusedCallReader({
      redis,
      watch: openEntryWatch(redis),
      transact: createTransact(pools.refusedCalls),
      logger,
      metrics: createRefusedCallMetrics(registry),
    }),
  );
  return { workers: [reader] };
}
