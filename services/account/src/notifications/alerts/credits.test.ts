import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { cutsResolved, grantNow, voidNow } from '../../../test/suite/credits.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { alertsOf, allChecked, startAlerts, use } from '../../../test/suite/notifications/alerts.ts';
import type { AlertsUnderTest } from '../../../test/suite/notifications/alerts.ts';

let suite: AlertsUnderTest;

beforeAll(async () => {
  suite = await startAlerts();
});

afterAll(async () => {
  await suite.close();
});

test('thresholds are of the limit with credits, and a grant arms those again that usage falls below', async () => {
  const owner = await newOwner(suite);
  const { account_id } = owner;
  const stores = { database: suite.database, store: suite.redis };
  const period_id = await insertPeriod(suite.database, account_id, { description: { points_limit: 100 } });
  const passed = async () =>
    (await alertsOf(suite, period_id)).map(({ share, limit_value }) => [share, limit_value]);
  const reaches = (expected: number[][]) =>
    waitFor(async () => JSON.stringify(await passed()) === JSON.stringify(expected));
  await use(suite, owner, period_id, { points: 100 });
  await reaches([
    [80, 100],
    [100, 100],
  ]);
  const { credit_id } = await grantNow(stores, account_id, { points: 20 });
  await reaches([[80, 100]]);
  await use(suite, owner, period_id, { points: 20 });
  await reaches([
    [80, 100],
    [100, 120],
  ]);
  await grantNow(stores, account_id, { points: 1_000 });
  await reaches([]);
  await use(suite, owner, period_id, { points: 780 });
  await reaches([[80, 1_120]]);
  await voidNow(stores, account_id, credit_id);
  await cutsResolved(stores, account_id);
  await allChecked(suite);
  expect(await passed()).toEqual([[80, 1_120]]);
});
