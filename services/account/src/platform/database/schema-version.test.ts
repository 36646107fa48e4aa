import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';
import semver from 'semver';
import { VERSION } from '@tollgate/server/version';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { emptyDatabase } from '../../../test/suite/database/empty-database.ts';
import { runProgram } from '../../../test/suite/programs.ts';
import { VERSION_BEFORE } from '../../../test/suite/database/version-before.ts';
import { migrateDatabase } from './migrate-database.ts';
import { MIGRATIONS } from './migration-list.ts';
import { OLDEST_SERVED_VERSION, OLDEST_UPGRADABLE_VERSION } from './schema-version.ts';

/** Newer than every release, and older than the first one. */
const [NEXT, LATER, ANCIENT] = ['98.0.0', '99.0.0', '0.0.9'];

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

type Use = (own: Knex, migrate: () => ReturnType<typeof runProgram>) => Promise<void>;

/** Runs `use` on a database of its own: without a schema, or migrated up to a migration. */
async function onDatabase(upTo: string | null, use: Use): Promise<void> {
  const empty = await emptyDatabase(database, home.url);
  const own = openSuiteDatabase(empty.url);
  try {
    if (upTo !== null) await migrateDatabase(own, { upTo });
    await use(own, () => runProgram('programs/migrate', { DATABASE_URL: empty.url }));
  } finally {
    await own.destroy();
    await empty.drop();
  }
}

const record = (own: Knex, version: string | null, oldest_served_version: string) =>
  own('schema_version').update({ version, oldest_served_version });

/** Columns, migrations and the recorded version: everything that `migrate` changes. */
async function stateOf(own: Knex) {
  return {
    columns: await own('information_schema.columns')
      .where({ table_schema: 'public' })
      .select('table_name', 'column_name')
      .orderBy(['table_name', 'column_name']),
    migrated: await own('knex_migrations').orderBy('id').pluck<string[]>('name'),
    version: await own('schema_version').select('version', 'oldest_served_version'),
  };
}

const recorded = (version: string) => [{ version, oldest_served_version: OLDEST_SERVED_VERSION }];

describe('migrate', () => {
  test('records its version on an empty database, two at once', async () => {
    await onDatabase(null, async (own, migrate) => {
      const outcomes = await Promise.all([migrate(), migrate()]);
      expect(outcomes.map(({ code, stderr }) => [code, stderr])).toEqual([1, 2].map(() => [0, '']));
      expect((await stateOf(own)).version).toEqual(recorded(VERSION));
    });
  });

  test('records an update that has no migration', async () => {
    await onDatabase(MIGRATIONS.at(-1)?.name ?? '', async (own, migrate) => {
      await record(own, OLDEST_UPGRADABLE_VERSION, OLDEST_UPGRADABLE_VERSION);
      expect((await migrate()).code).toBe(0);
      expect((await stateOf(own)).version).toEqual(recorded(VERSION));
    });
  });

  test('completes an installation that was interrupted, although no version is complete', async () => {
    await onDatabase(VERSION_BEFORE, async (own, migrate) => {
      expect((await stateOf(own)).version).toMatchObject([{ version: null }]);
      expect((await migrate()).code).toBe(0);
      expect((await stateOf(own)).version).toEqual(recorded(VERSION));
    });
  });

  test('of a version that skips another one says which to install first, and changes nothing', async () => {
    await onDatabase(VERSION_BEFORE, async (own, migrate) => {
      await record(own, ANCIENT, ANCIENT);
      const before = await stateOf(own);
      const { code, stdout } = await migrate();
      expect([code, stdout]).toEqual([
        2,
        expect.stringContaining(
          `Tollgate ${VERSION} can't update the database of Tollgate ${ANCIENT}. Update to ` +
            `${OLDEST_UPGRADABLE_VERSION} first, then to ${VERSION}.`,
        ),
      ]);
      expect(await stateOf(own)).toEqual(before);
    });
  });

  test('of an older version leaves a schema that serves it as it is', async () => {
    await onDatabase(MIGRATIONS.at(-1)?.name ?? '', async (own, migrate) => {
      await record(own, NEXT, VERSION);
      const before = await stateOf(own);
      expect((await migrate()).code).toBe(0);
      expect(await stateOf(own)).toEqual(before);
    });
  });

  test.each(['programs/migrate', 'programs/await-migrations'])(
    'a schema that no longer serves this version is refused by %s',
    async (program) => {
      await onDatabase(VERSION_BEFORE, async (own) => {
        await record(own, LATER, NEXT);
        const before = await stateOf(own);
        const url = new URL(home.url);
        const { rows } = await own.raw<{ rows: { name: string }[] }>('SELECT current_database() AS name');
        url.pathname = `/${rows[0]?.name ?? ''}`;
        const { code, stdout } = await runProgram(program, { DATABASE_URL: url.href });
        expect(code).toBe(program === 'programs/migrate' ? 2 : 1);
        expect(stdout).toContain(`Tollgate ${LATER} has changed the database`);
        expect(stdout).toContain(`Install ${NEXT} or newer`);
        expect(await stateOf(own)).toEqual(before);
      });
    },
  );
});

test('the version before, if there is one, can be updated and runs on this schema', () => {
  const changelog = readFileSync(new URL('../../../../../CHANGELOG.md', import.meta.url), 'utf8');
  const released = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, version]) => version ?? '');
  const [before = VERSION] = semver.rsort(released.filter((version) => semver.lt(version, VERSION)));
  expect([before, semver.lte(OLDEST_UPGRADABLE_VERSION, before)]).toEqual([before, true]);
  expect([before, semver.lte(OLDEST_SERVED_VERSION, before)]).toEqual([before, true]);
});
