import { orExit } from '@tollgate/server';
import { databaseTls } from '@tollgate/config/store-tls';
import { createLogger } from '@tollgate/log';
import { Refusal } from '@tollgate/server/refusal';
import { PROGRAM_POOLS } from '../platform/database/pools.ts';
import { loadMigrateConfig } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import { createPostgresServer } from '../platform/database/postgres-server.ts';
import { migrateDatabase } from '../platform/database/migrate-database.ts';
import { createQuery, reasonOf } from '../platform/database/query.ts';
import { checkSettings } from '../platform/database/session-settings.ts';

/** Unlike 1, it says that another attempt is useless. k8s/tollgate ends the Job with it. */
const EXIT_REFUSED = 2;

/**
 * Migrates the database's schema. Exits with 0, with 1 on failure, or with 2 if it refuses the schema
 * (docs/design/stores.md).
 */
const config = orExit(loadMigrateConfig);
const logger = createLogger('account-migrate', config.LOG_LEVEL);
const database = openDatabase({
  server: createPostgresServer({ url: config.DATABASE_URL, tls: databaseTls(config) }),
  ...PROGRAM_POOLS.migrate,
  logger,
});
try {
  await checkSettings(createQuery(database));
  const names = await migrateDatabase(database, {
    onBusy: (attempt) => {
      logger.info({ attempt }, 'a table is locked; retrying the migration');
    },
  });
  logger.info({ migrations: names }, names.length > 0 ? 'migrated' : 'nothing to migrate');
} catch (error) {
  if (error instanceof Refusal) logger.fatal(error.message);
  else logger.fatal({ err: reasonOf(error) }, 'the migration failed and changed nothing; earlier ones stay');
  process.exitCode = error instanceof Refusal ? EXIT_REFUSED : 1;
} finally {
  await database.destroy();
}
