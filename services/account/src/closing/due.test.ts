import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../test/suite/database/records.ts';
import { dueNotice } from '../notifications/credits/notices.ts';
import { createQuery, createTransact } from '../platform/database/query.ts';
import { correctPeriod } from './close-period.ts';
import { stepsOf } from './worker.ts';

/** What every process asks twice a second must not read all rows: Postgres finds what is due by an index. */

let home: Awaited<ReturnType<typeof createDatabase>>;
let database: Knex;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

/** Of an empty table Postgres would read all rows. */
async function planOf(sql: string): Promise<string> {
  return database.transaction(async (transaction) => {
    await transaction.raw('SET LOCAL enable_seqscan = off');
    await transaction.raw('SET LOCAL enable_bitmapscan = off');
    const { rows } = await transaction.raw<{ rows: Record<'QUERY PLAN', string>[] }>(`EXPLAIN ${sql}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}

test.each([
  ['cut', /Index Cond: \(at <= /],
  ['period', /Index Cond: \(ends_at <= /],
] as const)('the next %s that is due is found by its index', async (name, condition) => {
  const due = stepsOf(60).find((step) => step.name === name)?.due ?? '';
  expect(await planOf(`SELECT WHERE EXISTS (${due})`)).toMatch(condition);
});

test('the next notice of credits that is due is found by its index', async () => {
  const plan = await planOf(`SELECT WHERE EXISTS (SELECT FROM credit_notices WHERE ${dueNotice(7)})`);
  expect(plan).toMatch(/Index Cond: \(at <= /);
});

test('a correction is due once for its period, however often the points changed, and done once', async () => {
  const account_id = await insertAccount(database);
  const period_id = await insertPeriod(database, account_id);
  await database('credit_corrections').insert([{ period_id }, { period_id }]);
  const query = createQuery(database);
  const correction = stepsOf(60).find(({ name }) => name === 'correction');
  const [due, ...others] = await query<{ account_id: number; period_id: number; at: Date }>(
    correction?.due ?? '',
  );
  if (due === undefined) throw new Error('no correction is due');
  expect(due).toMatchObject({ account_id, period_id });
  expect(others).toEqual([]);
  const correct = () =>
    createTransact(database)((inside) => correctPeriod(inside, due, new Date(), { overuse: 'forgive' }));
  expect(await correct()).toBe(true);
  expect(await correct()).toBe(false);
});
