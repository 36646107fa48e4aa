import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import pg from 'pg';
import { MIGRATIONS, migrationSource } from './migration-list.ts';
import type { NamedMigration } from './migration-list.ts';
import { createQuery } from './query.ts';
import { beginMigration, recordMigration } from './schema-version.ts';

/** Any number that nothing else locks in this database. */
const MIGRATION_LOCK = 7_462_001;

/** Queries queue behind a migration that waits for a table, so it gives up before they time out (compose.ts). */
const LOCK_TIMEOUT_MS = 500;
const RETRY_MS = 500;
const ATTEMPTS = 60;

export type MigrateOptions = {
  /** Default: this version's. */
  migrations?: readonly NamedMigration[];
  /** The last one to run. Default: all. */
  upTo?: string;
  /** Called after each attempt that found a table in use. */
  onBusy?: (attempt: number) => void;
};

/**
 * Runs all pending migrations, each in a transaction of its own, and returns their names, while services of the
 * previous version continue (docs/design/stores.md). Safe to run concurrently and to kill: an advisory lock holds until
 * the commit. Inside it, knex's own lock, a row that a killed process leaves locked, can be freed.
 * @throws {Refusal} if this version can't update the schema (docs/design/stores.md); then nothing has changed
 * @throws {Error} lock_not_available (SQLSTATE 55P03) if a table was in use for a minute
 */
export async function migrateDatabase(database: Knex, options: MigrateOptions = {}): Promise<string[]> {
  const names: string[] = [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      for (;;) {
        const name = await runNext(database, options);
        if (name === undefined) return names;
        names.push(name);
        attempt = 1;
      }
    } catch (error) {
      if (!isLockNotAvailable(error) || attempt === ATTEMPTS) throw error;
      options.onBusy?.(attempt);
      await delay(RETRY_MS);
    }
  }
}

/** Names of this version's migrations that the database lacks. Reads only, unlike knex's list, which creates its tables. */
export async function pendingMigrations(database: Knex): Promise<string[]> {
  const isNew = await database.schema.hasTable('knex_migrations').then((exists) => !exists);
  const done = new Set(isNew ? [] : await database('knex_migrations').pluck<string[]>('name'));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !done.has(name));
}

function runNext(
  database: Knex,
  { migrations = MIGRATIONS, upTo }: MigrateOptions,
): Promise<string | undefined> {
  return database.transaction(async (transaction) => {
    await transaction.raw('SELECT pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    // Not before: another migrating process may take any time.
    await transaction.raw(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
    const query = createQuery(transaction);
    const schema = await beginMigration(query);
    const config: Knex.MigratorConfig = {
      migrationSource: migrationSource(migrations, upTo),
      // A release that is rolled back must start on a newer schema.
      disableMigrationsListValidation: true,
    };
    await transaction.migrate.forceFreeMigrationsLock(config);
    const [, names] = (await transaction.migrate.up(config)) as [number, string[]];
    await recordMigration(query, schema, { complete: names.length === 0 && upTo === undefined });
    return names[0];
  });
}

function isLockNotAvailable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}
