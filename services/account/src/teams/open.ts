import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { startDailyChecks } from './domains/daily-checks.ts';
import { createRecordCheck } from './domains/record-check.ts';
import type { CheckRecord } from './domains/record-check.ts';

/** Teams, and the domains that they have proven. */
export function openTeams(
  { config, pools, logger }: Pick<Platform, 'config' | 'pools' | 'logger'>,
  { wakeMails }: { wakeMails: () => void },
): { needs: { checkRecord: CheckRecord }; workers: Worker[] } {
  const checkRecord = createRecordCheck(config.DNS_SERVERS);
  const checks = createWorker(() =>
    startDailyChecks({
      query: createQuery(pools.mailsAndHousekeeping),
      transact: createTransact(pools.mailsAndHousekeeping),
      checkRecord,
      intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
      wakeMails,
      logger,
    }),
  );
  return { needs: { checkRecord }, workers: [checks] };
}
