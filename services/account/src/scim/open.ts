import { createWorker } from '../platform/background/worker.ts';
import type { Worker } from '../platform/background/worker.ts';
import { createTransact } from '../platform/database/query.ts';
import type { Platform } from '../platform/open.ts';
import { SCIM_PATH } from './router.ts';
import { startTokenWarnings } from './tokens/warnings.ts';

/** Teams whose members a directory adds and removes. */
export function openScim(
  { config, pools, logger }: Pick<Platform, 'config' | 'pools' | 'logger'>,
  { wakeMails }: { wakeMails: () => void },
): { needs: { scimBaseUrl: string }; workers: Worker[] } {
  const warnings = createWorker(() =>
    startTokenWarnings({
      transact: createTransact(pools.mailsAndHousekeeping),
      intervalSec: config.HOUSEKEEPING_INTERVAL_SEC,
      wakeMails,
      logger,
    }),
  );
  return {
    needs: { scimBaseUrl: new URL(SCIM_PATH, config.PUBLIC_URL).href },
    workers: [warnings],
  };
}
