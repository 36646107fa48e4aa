import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import { createQuery } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { ensurePartitions } from '../../counting/retention/partitions.ts';
import { findUsageRows } from './store.ts';
import type { UsageView } from './store.ts';

/** What Postgres does for a view: reads the rows of the account and of the range, and no others. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let home: Awaited<ReturnType<typeof createDatabase>>;
let database: Knex;
let account_id: number;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
  account_id = await insertAccount(database);
  const periodId = await insertPeriod(database, account_id);
  const now = Date.now();
  await ensurePartitions(
    database,
    Array.from({ length: 14 }, (_, month) => now - month * 30 * DAY_MS),
  );
  // A row an hour of the account, and of 20 others with periods of their own.
  await database.raw(
    `INSERT INTO usage_hourly
       (hour, period_id, account_id, application_id, api_version, points, requests, time_ms, traffic_bytes)
     SELECT hour, :periodId + other, :account_id + other, 1, 'v2', 1, 1, 1, 1
     FROM generate_series(date_trunc('hour', now()) - interval '60 days', now(), interval '1 hour') AS hour
     CROSS JOIN generate_series(0, 20) AS other`,
    { periodId, account_id },
  );
  await database.raw('ANALYZE');
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

/** The plans of a view's statements, as text. */
async function plansOf(view: UsageView, from: Date, to: Date): Promise<string> {
  const query = createQuery(database);
  const plans: string[] = [];
  const explaining: Query = async (sql, bindings) => {
    const rows = await query<Record<'QUERY PLAN', string>>(`EXPLAIN ${sql}`, bindings);
    plans.push(...rows.map((row) => row['QUERY PLAN']));
    return query(sql, bindings);
  };
  const filter = { application_id: undefined, account_id: undefined, api_version: undefined };
  const range = { interval: 'day' as const, from, to };
  await findUsageRows(explaining, { account_id, view, range, group_by: 'none', filter, limit: 1_000 });
  return plans.join('\n');
}

const partitionsIn = (plan: string) => new Set(plan.match(/usage_hourly_\d{4}_\d{2}(?= |$)/gm)).size;

test.each([
  ['billed', /Index Cond: \(\(period_id = (ANY|'?\d+)/],
  ['own', /Index Cond: \(\(account_id = /],
] as const)(
  'the view %s finds its rows by an index, in the partitions of the range',
  async (view, condition) => {
    const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const plan = await plansOf(view, new Date(midnight - 2 * DAY_MS), new Date(midnight));
    expect(plan).toMatch(condition);
    expect(plan).not.toMatch(/Seq Scan on usage_hourly/);
    expect(partitionsIn(plan)).toBeGreaterThanOrEqual(1);
    expect(partitionsIn(plan)).toBeLessThanOrEqual(2);
  },
);
