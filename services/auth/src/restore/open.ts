import { Gauge } from 'prom-client';
import type { ClientDirectory } from '../client/directory.ts';
import type { Platform } from '../platform/open.ts';
import { startRestore } from './restore.ts';
import type { Restore } from './restore.ts';
import { createRestoreStore } from './restore-store.ts';

/** Loads manual tokens into a Redis that lacks them. */
export function openRestore(
  { config, logger, registry, redis, account }: Platform,
  clients: Pick<ClientDirectory, 'find'>,
): Restore {
  return startRestore({
    store: createRestoreStore(redis),
    account,
    clients,
    checkIntervalMs: config.RESTORE_CHECK_INTERVAL_MS,
    maxInFlight: config.RESTORE_MAX_IN_FLIGHT,
    logger,
    gauge: new Gauge({
      name: 'tollgate_restoring',
      help: '1 while manual tokens are being loaded into a Redis that lacks them, else 0',
      registers: [registry],
    }),
  });
}
