import { setTimeout as delay } from 'node:timers/promises';
import { orExit } from '@tollgate/server';
import { createLogger } from '@tollgate/log';
import { DATABASE_POOLS } from '../compose/database-pools.ts';
import { loadMigrateConfig } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import { pendingMigrations } from '../platform/database/migrate-database.ts';

const RETRY_MS = 1_000;

/**
 * Waits until the schema has all migrations of this version, then exits with 0. Runs before the service where something
 * else starts both at once: the init container of k8s/tollgate.
 */
const config = orExit(loadMigrateConfig);
const logger = createLogger('account-await-migrations', config.LOG_LEVEL);
const database = openDatabase({
  url: config.DATABASE_URL,
  ...DATABASE_POOLS.migrate,
  logger,
});
try {
  let reported = '';
  for (;;) {
    const missing = await pendingMigrations(database).catch((error: unknown) => [
      error instanceof Error ? error.message : 'unknown',
    ]);
    if (missing.length === 0) break;
    if (String(missing) !== reported) logger.info({ reason: missing }, 'waiting for the migrations');
    reported = String(missing);
    await delay(RETRY_MS);
  }
  logger.info('the schema is that of this version');
} finally {
  await database.destroy();
}
