import { expect, test } from '@jest/globals';
import { createDatabase } from '@tollgate/testbed/database';
import { openSuiteDatabase, startAccount } from '../../../test/suite/account-under-test.ts';
import { done } from '../../../test/suite/billing.ts';
import { cutsResolved, endPeriod, periodClosed, settledOf, use } from '../../../test/suite/credits.ts';
import { emptyDatabase } from '../../../test/suite/database/empty-database.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { VERSION_BEFORE } from '../../../test/suite/database/version-before.ts';
import { grantTo } from '../../../test/suite/granting.ts';
import { operatorCredentials } from '../../../test/suite/operator.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { allCounted } from '../../../test/suite/usage/usage-streams.ts';
import { migrateDatabase } from './migrate-database.ts';

test('customers of the version before go on in the middle of their periods, and can be granted credits', async () => {
  const home = await createDatabase();
  const first = openSuiteDatabase(home.url);
  const { url, drop } = await emptyDatabase(first, home.url);
  const before = openSuiteDatabase(url);
  await migrateDatabase(before, { upTo: VERSION_BEFORE });
  const newPayer = async (points: number, times: { started_at?: Date; ended_at?: Date } = {}) => {
    const account_id = await insertAccount(before);
    const description = { points_limit: 10, rate_limit: 600 };
    const period_id = await insertPeriod(before, account_id, { description, ...times });
    await before('usage_totals').insert({ period_id, points, requests: 3, time_ms: 0, traffic_bytes: 0 });
    return { account_id, payer_id: account_id, period_id };
  };
  const within = await newPayer(4);
  const beyond = await newPayer(13);
  const LONG_AGO = { started_at: secondsFromNow(-90 * 86_400), ended_at: secondsFromNow(-60 * 86_400) };
  const former = await newPayer(25, LONG_AGO);
  await migrateDatabase(before);
  await before.destroy();

  const suite = await startAccount({
    databaseUrl: url,
    settings: { CLOSING_DELAY_SEC: '0', OPERATOR_CREDENTIALS: operatorCredentials },
  });
  try {
    const entitlementOf = async ({ account_id }: { account_id: number }): Promise<unknown> =>
      (await getPrivate(suite.account, `/private/entitlements/${String(account_id)}`)).json();
    const limited = { status: 'active', billing_period: { limits: { points_limit: 10, rate_limit: 600 } } };
    expect(await entitlementOf(within)).toMatchObject(limited);
    expect(await entitlementOf(beyond)).toMatchObject(limited);
    expect(await entitlementOf(within)).not.toHaveProperty('billing_period.credits');
    // Its use ended before there were credits: it counts as closed.
    const open = await suite.database('period_closings').orderBy('period_id').pluck('period_id');
    expect(open).toEqual([within.period_id, beyond.period_id]);
    expect(await settledOf(suite, former.period_id)).toMatchObject({
      settled_points: 0,
      closed_points: null,
    });

    // What was used beyond the limit before the grant isn't taken from it.
    await grantTo(suite.account, beyond.account_id, { points: 20 });
    await cutsResolved(suite, beyond.account_id);
    expect(await settledOf(suite, beyond.period_id)).toMatchObject({ settled_points: 3, overuse_points: 3 });
    await use(suite, beyond, 5);
    await allCounted(suite);
    for (const payer of [within, beyond]) {
      await endPeriod(suite, payer.period_id);
      await periodClosed(suite, payer.period_id);
    }
    expect(await settledOf(suite, within.period_id)).toMatchObject({ settled_points: 0, closed_points: 4 });
    expect(await settledOf(suite, beyond.period_id)).toMatchObject({ settled_points: 8, closed_points: 18 });
    const { account_id } = beyond;
    const check = await done(suite.account, 'POST', '/private/credit-checks', { account_id });
    expect(check).toMatchObject({ checked: 1, differences: [] });
    const listed = await done<{ credits: unknown[] }>(
      suite.account,
      'GET',
      `/private/credits?account_id=${String(account_id)}`,
    );
    expect(listed.credits).toMatchObject([{ points: 20, points_remaining: 15 }]);
  } finally {
    await suite.close();
    await drop();
    await first.destroy();
    await home.drop();
  }
});
