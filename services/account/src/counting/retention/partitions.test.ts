import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { ensurePartitions } from './partitions.ts';

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

/** Each partition of usage_hourly with its bounds. */
async function partitions(): Promise<[string, string][]> {
  const { rows } = await database.raw<{ rows: { name: string; bounds: string }[] }>(`
    SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bounds
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'usage_hourly'::regclass ORDER BY name`);
  return rows.map(({ name, bounds }) => [name, bounds]);
}

test('each month has one partition from its first instant to that of the next, in UTC, over the turn of a year', async () => {
  await database.raw(
    `ALTER DATABASE ${new URL(home.url).pathname.slice(1)} SET timezone = 'Pacific/Auckland'`,
  );
  const elsewhere = openSuiteDatabase(home.url);
  await ensurePartitions(
    elsewhere,
    ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00Z', '2026-01-31T12:00:00Z'].map((instant) =>
      Date.parse(instant),
    ),
  );
  await elsewhere.destroy();
  expect(await partitions()).toEqual([
    ['usage_hourly_2025_12', "FOR VALUES FROM ('2025-12-01 00:00:00+00') TO ('2026-01-01 00:00:00+00')"],
    ['usage_hourly_2026_01', "FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-02-01 00:00:00+00')"],
  ]);
});

test('many at once make a missing partition once', async () => {
  for (let year = 2027; year < 2047; year += 1) {
    const instants = [Date.UTC(year, 4, 5), Date.UTC(year, 5, 6)];
    await Promise.all(Array.from({ length: 12 }, () => ensurePartitions(database, instants)));
    const names = (await partitions()).map(([name]) => name);
    expect(names.filter((name) => name.includes(String(year)))).toEqual([
      `usage_hourly_${String(year)}_05`,
      `usage_hourly_${String(year)}_06`,
    ]);
  }
});

test('nothing to ensure costs nothing and makes nothing', async () => {
  const before = await partitions();
  await ensurePartitions(database, []);
  expect(await partitions()).toEqual(before);
});
