import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import pg from 'pg';
import { migrationSource } from './migration-list.ts';

/** Any number that nothing else locks in this database. */
const MIGRATION_LOCK = 7_462_001;

/**
 * While a migration waits for a table, everyone who wants the table waits behind it: no longer than the services'
 * own patience (compose.ts), and then it steps back and comes again.
 */
const LOCK_TIMEOUT_MS = 500;
const REST_MS = 500;
const ATTEMPTS = 60;

export type MigrateOptions = {
  /** The last migration to run; without it, all do. */
  upTo?: string;
  /** Told of each attempt that found a table in use. */
  onBusy?: (attempt: number) => void;
};

/**
 * Brings the schema up to date, all of it or nothing, and returns the names of the migrations that ran. The services
 * of the version before go on meanwhile (ADR 0035).
 *
 * Safe however many run it at once, and after a kill -9: one transaction holds an advisory lock from the
 * first look at the schema to the commit, and Postgres frees both when the connection dies. knex's own lock
 * is a row that a killed process could leave locked; inside the advisory lock it can be freed without asking.
 *
 * @throws {Error} lock_not_available (SQLSTATE 55P03) where a table was in use for a minute
 */
export async function migrateDatabase(database: Knex, options: MigrateOptions = {}): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(database, options.upTo);
    } catch (error) {
      if (!isLockNotAvailable(error) || attempt === ATTEMPTS) throw error;
      options.onBusy?.(attempt);
      await delay(REST_MS);
    }
  }
}

function migrateOnce(database: Knex, upTo: string | undefined): Promise<string[]> {
  return database.transaction(async (transaction) => {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    // From here on: another process that migrates is waited for as long as it takes.
    await transaction.raw(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
    const config: Knex.MigratorConfig = {
      migrationSource: migrationSource(upTo),
      // A release that is rolled back meets a newer schema, which it must be able to start on.
      disableMigrationsListValidation: true,
    };
    await transaction.migrate.forceFreeMigrationsLock(config);
    const [, names] = (await transaction.migrate.latest(config)) as [number, string[]];
    return names;
  });
}

function isLockNotAvailable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}
