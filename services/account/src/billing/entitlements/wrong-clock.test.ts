import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import { waitFor } from '@tollgate/stack/wait-for';
import { clockAhead } from '@tollgate/testbed/clock-ahead';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { getPrivate, getUsage, obtainToken } from '../../../test/suite/requests.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

const HOUR_SEC = 3_600;

describe.each([
  ['25 hours behind', -25 * HOUR_SEC],
  ['25 hours ahead', 25 * HOUR_SEC],
])('an account whose clock is %s', (_name, aheadSec) => {
  let suite: AccountUnderTest;

  beforeAll(async () => {
    suite = await startAccount({ settings: clockAhead(aheadSec * 1_000) });
  });

  afterAll(() => suite.close());

  async function skewSec(reference: string): Promise<number> {
    const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
    const sample = new RegExp(`^tollgate_clock_skew_seconds\\{reference="${reference}".*\\} (\\S+)$`, 'm');
    return Number(sample.exec(metrics)?.[1]);
  }

  test('answers by Postgres’ clock, and says how long that holds', async () => {
    const account_id = await insertAccount(suite.database);
    const [started_at, ended_at] = [secondsFromNow(-HOUR_SEC), secondsFromNow(HOUR_SEC)];
    await insertPeriod(suite.database, account_id, { started_at, ended_at });
    const response = await getPrivate(suite.account, `/private/entitlements/${String(account_id)}`);
    const { status, valid_for_ms } = entitlementSchema.parse(await response.json());
    expect(status).toBe('active');
    expect(Math.abs((valid_for_ms ?? 0) - HOUR_SEC * 1_000)).toBeLessThan(10_000);
    const token = await obtainToken(suite.auth, await insertApplication(suite.database, account_id));
    expect(await (await getUsage(suite.account, token)).json()).toMatchObject({ status: 'active' });
  });

  test('counts usage of now, and says how far its clock is off', async () => {
    for (const reference of ['redis', 'postgres']) {
      await waitFor(async () => Math.abs((await skewSec(reference)) - aheadSec) < 1, { what: reference });
    }
    const account_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, account_id);
    await appendBatch(suite.store, [usageEvent({ account_id, payer_id: account_id, period_id })]);
    await allCounted(suite);
    expect((await countedUsage(suite.database)).totals.requests).toBe(1);
    expect(await suite.database('usage_unassigned')).toEqual([]);
  });
});
