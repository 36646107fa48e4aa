import { setTimeout as delay } from 'node:timers/promises';
import { databaseTls } from '@tollgate/config/store-tls';
import { createLogger } from '@tollgate/log';
import { orExit } from '@tollgate/server';
import { Refusal } from '@tollgate/server/refusal';
import { PROGRAM_POOLS } from '../platform/database/pools.ts';
import { loadMigrateConfig } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import { createPostgresServer } from '../platform/database/postgres-server.ts';
import { pendingMigrations } from '../platform/database/migrate-database.ts';
import { createQuery, reasonOf } from '../platform/database/query.ts';
import { checkSchemaServesThisVersion } from '../platform/database/schema-version.ts';
import { checkSettings } from '../platform/database/session-settings.ts';

const RETRY_MS = 1_000;

/**
 * Waits until the schema has all migrations of this version, then exits with 0. Runs before the service where something
 * else starts both at once: the init container of k8s/tollgate. Exits with 1 if the schema is too new
 * (docs/design/stores.md).
 */
const config = orExit(loadMigrateConfig);
const logger = createLogger('account-await-migrations', config.LOG_LEVEL);
const database = openDatabase({
  server: createPostgresServer({ url: config.DATABASE_URL, tls: databaseTls(config) }),
  ...PROGRAM_POOLS.migrate,
  logger,
});
try {
  let reported = '';
  for (;;) {
    const missing = await missingMigrations();
    if (missing.length === 0) break;
    if (String(missing) !== reported) logger.info({ reason: missing }, 'waiting for the migrations');
    reported = String(missing);
    await delay(RETRY_MS);
  }
  logger.info('the schema is that of this version');
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  logger.fatal(error.message);
  process.exitCode = 1;
} finally {
  await database.destroy();
}

/** Names of migrations, or why they can't be read. */
async function missingMigrations(): Promise<string[]> {
  try {
    await checkSettings(createQuery(database));
    await checkSchemaServesThisVersion(createQuery(database));
    return await pendingMigrations(database);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const reason = reasonOf(error);
    return [reason instanceof Error ? reason.message : 'unknown'];
  }
}
