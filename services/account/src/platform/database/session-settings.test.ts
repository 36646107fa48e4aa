import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase, startAccount } from '../../../test/suite/account-under-test.ts';
import { emptyDatabase } from '../../../test/suite/database/empty-database.ts';
import { startForgetfulPooler } from '../../../test/suite/stand-ins/forgetful-pooler.ts';
import { runProgram } from '../../../test/suite/programs.ts';
import { createQuery } from './query.ts';

/** Defaults that administrators choose, each of which changes what a statement returns or means. */
const DEFAULTS = {
  datestyle: "'German, DMY'",
  intervalstyle: "'sql_standard'",
  timezone: "'Asia/Kolkata'",
  search_path: 'pg_catalog',
  client_encoding: "'LATIN1'",
  bytea_output: "'escape'",
  extra_float_digits: '-10',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  default_transaction_isolation: "'serializable'",
};

let home: Database;

beforeAll(async () => {
  home = await createDatabase();
  const name = new URL(home.url).pathname.slice(1);
  await withClient(home.url, async (client) => {
    for (const [setting, value] of Object.entries(DEFAULTS)) {
      await client.query(`ALTER DATABASE "${name}" SET ${setting} = ${value}`);
    }
  });
});

afterAll(async () => {
  await home.drop();
});

describe('a database with defaults of its own', () => {
  test('changes nothing that a statement returns', async () => {
    const database = openSuiteDatabase(home.url);
    const query = createQuery(database);
    expect(
      await query(
        `SELECT CAST('2026-03-04T05:06:07.123Z' AS timestamptz) AS instant, interval '1 day 2 hours' AS duration,
                CAST(date_trunc('day', CAST('2026-03-04T23:00Z' AS timestamptz)) AS text) AS day,
                CAST('\\x6162' AS bytea) AS bytes, CAST(1234567890.123 AS float8) AS number, 'ü' AS letter,
                NULL = NULL AS same, current_setting('transaction_isolation') AS isolation,
                to_regclass('accounts') IS NOT NULL AS finds_tables`,
      ),
    ).toEqual([
      {
        instant: new Date('2026-03-04T05:06:07.123Z'),
        duration: expect.objectContaining({ days: 1, hours: 2 }),
        day: '2026-03-04 00:00:00+00',
        bytes: Buffer.from('ab'),
        number: 1_234_567_890.123,
        letter: 'ü',
        same: null,
        isolation: 'read committed',
        finds_tables: true,
      },
    ]);
    await database.destroy();
  });

  test('options of DATABASE_URL are kept, but can’t change that', async () => {
    const url = new URL(home.url);
    url.searchParams.set('options', '-c datestyle=German -c work_mem=5MB');
    const database = openSuiteDatabase(url.href);
    const query = createQuery(database);
    expect(await query('SHOW work_mem')).toEqual([{ work_mem: '5MB' }]);
    expect(await query('SHOW datestyle')).toEqual([{ DateStyle: 'ISO, MDY' }]);
    await database.destroy();
  });

  test('behind a pooler that drops the options, account and its programs refuse to start, and name the settings', async () => {
    const pooler = await startForgetfulPooler(home.url);
    pooler.forget();
    const migration = await runProgram('programs/migrate', { DATABASE_URL: pooler.url });
    expect([migration.code, migration.stdout]).toEqual([
      2,
      expect.stringContaining('DateStyle is \\"German, DMY\\" instead of \\"ISO, MDY\\"'),
    ]);
    await pooler.close();
  });

  test('a pooler that begins to drop them makes account unready, and the health report lists them', async () => {
    const pooler = await startForgetfulPooler(home.url);
    const suite = await startAccount({
      databaseUrl: home.url,
      settings: { DATABASE_URL: pooler.url, CONNECTION_MAX_AGE_MS: '1' },
    });
    pooler.forget();
    const ready = () => fetch(`${suite.account.privateUrl}/health/ready`);
    await waitFor(async () => (await ready()).status === 503);
    expect(await (await ready()).json()).toMatchObject({
      checks: { postgres: expect.stringMatching(/DateStyle.*TimeZone.*search_path/) },
    });
    await suite.close();
    await pooler.close();
  });
});

test('a database in another encoding than UTF8 is refused', async () => {
  const database = openSuiteDatabase(home.url);
  const latin = await emptyDatabase(database, home.url, 'LATIN1');
  const migration = await runProgram('programs/migrate', { DATABASE_URL: latin.url });
  expect([migration.code, migration.stdout]).toEqual([
    2,
    expect.stringContaining('server_encoding is \\"LATIN1\\" instead of \\"UTF8\\"'),
  ]);
  await latin.drop();
  await database.destroy();
});
