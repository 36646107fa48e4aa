import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import { insertGrant, insertMovement } from '../../../test/suite/database/credits.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { createQuery } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { findHoldings } from './holdings.ts';

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

test('a settlement while holdings are read does not show points that are used', async () => {
  const account_id = await insertAccount(database);
  const period_id = await insertPeriod(database, account_id, { description: { points_limit: 10 } });
  const credit_id = await insertGrant(database, account_id, { points: 100 });
  await database('credit_cuts').where({ account_id }).update({ resolved_at: new Date() });
  await database('usage_totals').insert({
    period_id,
    points: 30,
    requests: 1,
    time_ms: 1,
    traffic_bytes: 1,
  });
  const query = createQuery(database);
  const settle = async () => {
    const use = { from_ledger: 'grant', to_ledger: 'used', points: 20, period_id };
    await insertMovement(database, { credit_id, account_id }, use);
    await database('period_credits').insert({ period_id, settled_points: 20 });
  };
  const settledMeanwhile: Query = async <Row>(...statement: Parameters<Query>) => {
    const rows = await query<Row>(...statement);
    if ((await database('period_credits').where({ period_id })).length === 0) await settle();
    return rows;
  };
  const before = await findHoldings(settledMeanwhile, account_id, Date.now());
  expect(before).toMatchObject({ points_remaining: 80, credits: [{ credit_id, points_remaining: 80 }] });
  expect(Object.keys(before.credits[0] ?? {})).not.toContain('unsettled_points');
  expect((await findHoldings(query, account_id, Date.now())).points_remaining).toBe(80);
});
