import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { emptyDatabase } from '../../../test/suite/database/empty-database.ts';
import { readSchema, unsafeChanges } from '../../../test/suite/database/schema-changes.ts';
import { FUTURE_MIGRATION } from '../../../test/suite/database/future-migration.ts';
import { migrateDatabase } from './migrate-database.ts';
import { MIGRATIONS } from './migration-list.ts';

/** The first release: no previous version ran that its migrations could harm. */
const FIRST_RELEASE = '0001-schema';

let home: Database;
let database: Knex;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

test('no migration takes from the version before what it needs, unless the migration says why it may', async () => {
  const empty = await emptyDatabase(database, home.url);
  const own = openSuiteDatabase(empty.url);
  try {
    await migrateDatabase(own, { upTo: FIRST_RELEASE });
    let before = await readSchema(own);
    const migrations = [...MIGRATIONS, FUTURE_MIGRATION];
    const later = migrations.slice(migrations.findIndex(({ name }) => name === FIRST_RELEASE) + 1);
    for (const { name, migration } of later) {
      expect(await migrateDatabase(own, { migrations, upTo: name })).toEqual([name]);
      const after = await readSchema(own);
      const found = unsafeChanges(before, after);
      // A declared exception that isn't found fails, too: it would hide the next fault.
      expect([name, found]).toEqual([name, Object.keys(migration.exceptions ?? {}).toSorted()]);
      for (const reason of Object.values(migration.exceptions ?? {}))
        expect(reason.length).toBeGreaterThan(20);
      before = after;
    }
  } finally {
    await own.destroy();
    await empty.drop();
  }
});

describe('a change is found that', () => {
  test.each([
    ['drops a table', 'DROP TABLE email_tokens', ['email_tokens is gone']],
    ['drops a column', 'ALTER TABLE sessions DROP COLUMN address', ['sessions.address is gone']],
    [
      'renames a column',
      'ALTER TABLE sessions RENAME COLUMN address TO came_from',
      ['sessions.address is gone', 'sessions.came_from is required of every insert'],
    ],
    ['renames a table', 'ALTER TABLE attempt_counts RENAME TO attempts', ['attempt_counts is gone']],
    [
      'changes a type',
      'ALTER TABLE application_secrets ALTER pepper_id TYPE varchar(40)',
      ['application_secrets.pepper_id has another type'],
    ],
    [
      'wants a value of whoever inserts',
      'ALTER TABLE sessions ADD COLUMN device text NOT NULL',
      ['sessions.device is required of every insert'],
    ],
    [
      'makes a column NOT NULL',
      'ALTER TABLE accounts ALTER blocked_at SET NOT NULL',
      ['accounts.blocked_at is required of every insert'],
    ],
    [
      'takes a default away',
      'ALTER TABLE accounts ALTER created_at DROP DEFAULT',
      ['accounts.created_at does not fill itself any more'],
    ],
    [
      'refuses what was written before',
      'ALTER TABLE teams ADD CONSTRAINT teams_name_short CHECK (length(name) < 50)',
      ['teams_name_short is a rule, or an index, that teams did not have'],
    ],
    [
      'changes a rule under its name',
      `ALTER TABLE usage_refresh_outbox DROP CONSTRAINT usage_refresh_outbox_check, ADD CONSTRAINT
         usage_refresh_outbox_check CHECK (usage_version > previous_version + 1)`,
      ['usage_refresh_outbox_check is a rule, or an index, that usage_refresh_outbox did not have'],
    ],
    [
      'blocks writers while an index is built',
      'CREATE INDEX accounts_name_idx ON accounts (name)',
      ['accounts_name_idx is a rule, or an index, that accounts did not have'],
    ],
    [
      'drops what ON CONFLICT stands on',
      'ALTER TABLE attempt_counts DROP CONSTRAINT attempt_counts_pkey',
      ['attempt_counts_pkey is gone'],
    ],
    [
      'drops a trigger',
      'DROP TRIGGER accounts_changed ON accounts',
      ['trigger accounts.accounts_changed is gone'],
    ],
  ])('%s', async (_name, sql, expected) => {
    const before = await readSchema(database);
    const transaction = await database.transaction();
    try {
      await transaction.raw(sql);
      expect(unsafeChanges(before, await readSchema(transaction))).toEqual(expected);
    } finally {
      await transaction.rollback();
    }
  });

  test('but not one that only adds', async () => {
    const before = await readSchema(database);
    const transaction = await database.transaction();
    try {
      await transaction.raw(`
        CREATE TABLE novelties (novelty_id bigint PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE INDEX ON novelties (name);
        ALTER TABLE accounts ADD COLUMN nickname text;
        ALTER TABLE accounts ADD COLUMN visits bigint NOT NULL DEFAULT 0;
        DROP INDEX sessions_last_seen_at_idx;
        ALTER TABLE sessions ALTER user_agent DROP NOT NULL`);
      expect(unsafeChanges(before, await readSchema(transaction))).toEqual([]);
    } finally {
      await transaction.rollback();
    }
  });
});
