import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { emptyDatabase } from '../../../test/suite/database/empty-database.ts';
import { FUTURE_MIGRATION } from '../../../test/suite/database/future-migration.ts';
import { insertAccount, insertApplication, insertPeriod } from '../../../test/suite/database/records.ts';
import { VERSION_BEFORE, runVersionBefore } from '../../../test/suite/database/version-before.ts';
import type { Run } from '../../../test/suite/database/version-before.ts';
import { ensurePartitions } from '../../counting/retention/partitions.ts';
import { createPostgresServer } from './postgres-server.ts';
import { openDatabase } from './database.ts';
import { migrateDatabase } from './migrate-database.ts';
import { MIGRATIONS } from './migration-list.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';

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

test('the version before goes on while the schema is brought up to this one, over a long reader, and after it', async () => {
  const empty = await emptyDatabase(database, home.url);
  const own = openSuiteDatabase(empty.url);
  // The timeouts of its requests (compose.ts): a longer wait gets a 503.
  const logger = createLogger('suite', 'silent');
  const limits = { acquireTimeoutMs: 1_000, statementTimeoutMs: 1_500, poolMax: 10 };
  const before = openDatabase({ server: createPostgresServer({ url: empty.url }), logger, ...limits });
  let run: Run | undefined;
  try {
    await migrateDatabase(own, { upTo: VERSION_BEFORE });
    await ensurePartitions(own, [Date.now(), Date.now() + 3_600_000]);
    const account_id = await insertAccount(own);
    const period_id = await insertPeriod(own, account_id);
    const application = await insertApplication(own, account_id);
    const stream = '{s0}:usage';
    await own('usage_stream_positions').insert({ stream, position: '0-0' });
    const going = runVersionBefore(before, { account_id, period_id, stream, ...application });
    run = going;
    const allDone = async (more: number) => {
      const atLeast = Object.values(going.done).map((times) => times + more);
      await waitFor(() => Object.values(going.done).every((times, index) => times >= (atLeast[index] ?? 0)), {
        timeoutMs: 60_000,
        what: 'everything to be done some times',
      });
    };
    await allDone(5);

    const reader = await own.transaction();
    const migrations = [...MIGRATIONS, FUTURE_MIGRATION];
    let busy = 0;
    let migrating: Promise<string[]> | undefined;
    try {
      // Holds the table's lock, as a check of all counters does; while nothing is asked, too.
      await reader.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
      await reader('usage_totals').select().limit(1);
      migrating = migrateDatabase(own, { migrations, onBusy: () => (busy += 1) });
      const tried = () =>
        sessionsOf(own)
          .where({ wait_event_type: 'Lock' })
          .whereLike('query', '%ALTER TABLE usage_totals%')
          .first<object | undefined>();
      await waitFor(tried, { intervalMs: 5, timeoutMs: 60_000, what: 'the migration to wait' });
      await waitFor(() => busy > 0, { what: 'the migration to step back' });
      await allDone(5);
    } finally {
      await reader.commit();
    }
    await migrating;
    const migrated = await own('knex_migrations').orderBy('id').pluck<string[]>('name');
    expect(migrated).toEqual(migrations.map(({ name }) => name));
    await allDone(10);
    await going.stop();

    expect(going.failures).toEqual([]);
    const counted = { points: going.done['countUsage'], requests: going.done['countUsage'] };
    expect(await own('usage_totals').where({ period_id }).first()).toMatchObject(counted);
  } finally {
    await run?.stop();
    await Promise.all([own.destroy(), before.destroy()]);
    await empty.drop();
  }
}, 300_000);
