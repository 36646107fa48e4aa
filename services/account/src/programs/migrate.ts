import { orExit } from '@tollgate/server';
import { createLogger } from '@tollgate/log';
import { DATABASE_POOLS } from '../compose/database-pools.ts';
import { loadMigrateConfig } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import { migrateDatabase } from '../platform/database/migrate-database.ts';

/** Migrates the database's schema. Exits with 0, or with 1 on failure. */
const config = orExit(loadMigrateConfig);
const logger = createLogger('account-migrate', config.LOG_LEVEL);
const database = openDatabase({
  url: config.DATABASE_URL,
  ...DATABASE_POOLS.migrate,
  logger,
});
try {
  const names = await migrateDatabase(database, {
    onBusy: (attempt) => {
      logger.info({ attempt }, 'a table is locked; retrying the migration');
    },
  });
  logger.info({ migrations: names }, names.length > 0 ? 'migrated' : 'nothing to migrate');
} catch (error) {
  logger.fatal({ err: error }, 'the migration failed and changed nothing; earlier ones stay');
  process.exitCode = 1;
} finally {
  await database.destroy();
}
