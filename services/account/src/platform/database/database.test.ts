import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import type { Knex } from 'knex';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { Problem } from '@tollgate/http/problem';
import { freePort } from '@tollgate/stack/ports';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { startTcpRelay } from '@tollgate/testbed/tcp-relay';
import { insertAccount } from '../../../test/suite/database/records.ts';
import { openDatabase } from './database.ts';
import { createPostgresServer } from './postgres-server.ts';
import { createQuery } from './query.ts';

let home: Database;
let own: Knex;

beforeAll(async () => {
  home = await createDatabase();
  own = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await own.destroy();
  await home.drop();
});

const open = (url: string) =>
  openDatabase({
    server: createPostgresServer({ url }),
    poolMax: 1,
    acquireTimeoutMs: 400,
    statementTimeoutMs: 200,
    logger: createLogger('suite', 'silent'),
  });

async function withPool<T>(url: string, run: (database: Knex) => Promise<T>): Promise<T> {
  const database = open(url);
  try {
    return await run(database);
  } finally {
    await database.destroy();
  }
}

describe('values', () => {
  test('a bigint is a number up to 2^53 - 1, and an error beyond, never a rounded figure', async () => {
    const query = createQuery(own);
    expect(await query('SELECT 9007199254740991::bigint AS big')).toEqual([{ big: 9_007_199_254_740_991 }]);
    expect(await query('SELECT (-9007199254740991)::bigint AS big')).toEqual([
      { big: -9_007_199_254_740_991 },
    ]);
    await expect(query('SELECT 9007199254740992::bigint')).rejects.toThrow(RangeError);
  });

  test('an error names the statement, never what was bound to it', async () => {
    const failing = createQuery(own)('SELECT 1 / (length(:secret) - 7)', { secret: 'hunter2' });
    const error = (await failing.catch((reason: unknown) => reason)) as Error;
    expect(error.message).toBe('SELECT 1 / (length($1) - 7) - division by zero');
    expect(inspect(error)).not.toContain('hunter2');
  });
});

describe('a statement with a name', () => {
  const PLANS = 'SELECT name, generic_plans + custom_plans AS uses FROM pg_prepared_statements';

  test('is prepared once for its connection, and others are not', async () => {
    await withPool(home.url, async (database) => {
      const query = createQuery(database);
      for (const value of [1, 2, 3]) {
        expect(await query('SELECT CAST(:value AS int) AS value', { value }, 'some_value')).toEqual([
          { value },
        ]);
        await query('SELECT CAST(:value AS int)', { value });
      }
      expect(await query(PLANS)).toEqual([{ name: 'some_value', uses: 3 }]);
    });
  });

  test('goes on when a migration adds a column to its table', async () => {
    await own.raw('CREATE TABLE grown (id int); INSERT INTO grown VALUES (7)');
    await withPool(home.url, async (database) => {
      const rows = () =>
        createQuery(database)('SELECT id FROM (SELECT * FROM grown) AS rows', {}, 'grown_rows');
      expect(await rows()).toEqual([{ id: 7 }]);
      await own.raw('ALTER TABLE grown ADD COLUMN size int DEFAULT 3');
      expect(await rows()).toEqual([{ id: 7 }]);
    });
  });

  test('that failed, in its plan or in its execution, can be asked again', async () => {
    await withPool(home.url, async (database) => {
      const later = () => createQuery(database)('SELECT id FROM made_later', {}, 'later');
      await expect(later()).rejects.toThrow('does not exist');
      await own.raw('CREATE TABLE made_later (id int)');
      expect(await later()).toEqual([]);
      const share = (of: number) =>
        createQuery(database)('SELECT 6 / CAST(:of AS int) AS share', { of }, 'share');
      await expect(share(0)).rejects.toThrow('division by zero');
      expect(await share(2)).toEqual([{ share: 3 }]);
    });
  });
});

describe('a Postgres that is away is service_unavailable', () => {
  async function unavailable(url: string, sql = 'SELECT 1'): Promise<void> {
    const error = await withPool(url, (database) => createQuery(database)(sql)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).code).toBe('service_unavailable');
  }

  test('where nothing listens', async () => {
    const url = new URL(home.url);
    url.port = String(await freePort());
    await unavailable(url.href);
  });

  test('where it accepts the connection and never answers', async () => {
    const proxy = await startTcpRelay(home.url);
    proxy.pause();
    await unavailable(proxy.url);
    await proxy.close();
  });

  test('where a statement takes too long', async () => {
    await unavailable(home.url, 'SELECT pg_sleep(5)');
  });

  test('where the password is refused or the database is not there', async () => {
    const wrongPassword = new URL(home.url);
    wrongPassword.password = 'wrong';
    await unavailable(wrongPassword.href);
    const wrongName = new URL(home.url);
    wrongName.pathname = '/nothing_here';
    await unavailable(wrongName.href);
  });

  test('where all connections of the pool are busy', async () => {
    await withPool(home.url, async (database) => {
      const error = await database.transaction(() =>
        createQuery(database)('SELECT 1').catch((reason: unknown) => reason),
      );
      expect((error as Problem).code).toBe('service_unavailable');
    });
  });

  test('a mistake in a statement is none of these', async () => {
    await expect(createQuery(own)('SELECT nothing')).rejects.not.toBeInstanceOf(Problem);
    await expect(createQuery(own)('SELECT 1 / 0')).rejects.not.toBeInstanceOf(Problem);
  });
});

describe('a Postgres that falls silent within a transaction', () => {
  test('costs that transaction, and never leaks its statements into the next one', async () => {
    const proxy = await startTcpRelay(home.url);
    await withPool(proxy.url, async (database) => {
      const lost = database.transaction(async (transaction) => {
        await insertAccount(transaction, { email: 'lost@example.com' });
        proxy.pause();
        await insertAccount(transaction, { email: 'lost-too@example.com' });
      });
      await expect(lost).rejects.toThrow();
      proxy.resume();
      // A busy machine may take longer to connect than the pool waits.
      await waitFor(() =>
        database.transaction((transaction) => insertAccount(transaction, { email: 'kept@example.com' })),
      );
      expect(await own('accounts').whereLike('email', '%@example.com').pluck('email')).toEqual([
        'kept@example.com',
      ]);
    });
    await proxy.close();
  });

  test('a process that hangs within a transaction frees its locks in the end', async () => {
    const { rows } = await own.raw<{ rows: { idle_in_transaction_session_timeout: string }[] }>(
      'SHOW idle_in_transaction_session_timeout',
    );
    expect(rows).toEqual([{ idle_in_transaction_session_timeout: '10s' }]);
  });
});
