import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import pg from 'pg';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';

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

test('new work is announced when it is committed, once in a while by each session', async () => {
  const period_id = await insertPeriod(database, await insertAccount(database));
  const addWork = `INSERT INTO usage_alert_checks (period_id, due_at)
    VALUES (${String(period_id)}, now() + interval '1 day')`;
  let notices = 0;
  const session = new pg.Client(home.url);
  session.on('notification', () => (notices += 1));
  await session.connect();
  try {
    await session.query('LISTEN due_work');
    /** A session's own notices arrive with the response. */
    const announcedBy = async (...statements: string[]) => {
      const before = notices;
      for (const statement of statements) await session.query(statement);
      return notices - before;
    };
    expect(await announcedBy('BEGIN', addWork, 'ROLLBACK')).toBe(0);
    expect(await announcedBy('BEGIN', addWork)).toBe(0);
    expect(await announcedBy('COMMIT')).toBe(1);
    expect(await announcedBy(addWork, addWork)).toBe(0);
    await waitFor(async () => (await announcedBy(addWork)) === 1);
  } finally {
    await session.end();
  }
});
