import type { Knex } from 'knex';
import { migrationSource } from './migration-list.ts';

/** Any number that nothing else locks in this database. */
const MIGRATION_LOCK = 7_462_001;

/**
 * Brings the schema up to date, all of it or nothing, and returns the names of the migrations that ran.
 *
 * Safe however many run it at once, and after a kill -9: one transaction holds an advisory lock from the
 * first look at the schema to the commit, and Postgres frees both when the connection dies. knex's own lock
 * is a row that a killed process could leave locked; inside the advisory lock it can be freed without asking.
 */
export async function migrateDatabase(database: Knex): Promise<string[]> {
  return database.transaction(async (transaction) => {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    const config: Knex.MigratorConfig = {
      migrationSource,
      // A release that is rolled back meets a newer schema, which it must be able to start on.
      disableMigrationsListValidation: true,
    };
    await transaction.migrate.forceFreeMigrationsLock(config);
    const [, names] = (await transaction.migrate.latest(config)) as [number, string[]];
    return names;
  });
}
