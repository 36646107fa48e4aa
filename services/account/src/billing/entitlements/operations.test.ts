import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import { usageShard } from '@tollgate/contracts/usage-stream';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertPeriod,
  insertTeam,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';

const DAY_SEC = 86_400;
const GRACE_SEC = 3 * DAY_SEC;

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      PUBLIC_URL: 'https://tollgate.example',
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_12345678',
      STRIPE_WEBHOOK_SECRET: 'whsec_12345678',
    },
  });
});

afterAll(async () => {
  await suite.close();
});

async function entitlementOf(accountId: number): Promise<Entitlement> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(accountId)}`);
  expect(response.status).toBe(200);
  return entitlementSchema.strict().parse(await response.json());
}

/** The first instant after a whole second. */
function after(second: Date, graceSec = 0): string {
  return new Date(second.getTime() + (1 + graceSec) * 1_000).toISOString();
}

describe('GET /private/entitlements/{account_id}', () => {
  test('tells payer, status, period and limits, null where the description has none', async () => {
    const account_id = await insertAccount(suite.database);
    const ended_at = secondsFromNow(DAY_SEC);
    const description = { points_limit: 0, rate_limit: 600, session_limit: null, colour: 'blue' };
    const period_id = await insertPeriod(suite.database, account_id, { ended_at, description });
    const answer = await entitlementOf(account_id);
    expect(answer).toEqual({
      account_id,
      payer_id: account_id,
      status: 'active',
      valid_until: after(ended_at),
      valid_for_ms: expect.any(Number),
      billing_period: {
        period_id,
        ended_at: ended_at.toISOString(),
        limits: {
          points_limit: 0,
          rate_limit: 600,
          session_limit: null,
          subscription_limit: null,
          time_sec_limit: null,
          traffic_bytes_limit: null,
          team_slots_limit: null,
        },
        usage_lane: usageShard(account_id),
        buy_url: 'https://tollgate.example/user/plan',
      },
    });
    const leftMs = Date.parse(after(ended_at)) - Date.now();
    expect(Math.abs((answer.valid_for_ms ?? 0) - leftMs)).toBeLessThan(10_000);
  });

  test('tells the rules for calls, without those that can be none', async () => {
    const account_id = await insertAccount(suite.database);
    const description = {
      points_per_call_limit: 500,
      graphql_max_depth: null,
      graphql_batch_limit: 0,
      graphql_introspection: false,
      // As a former version stored any value.
      graphql_max_tokens: 'many',
    };
    await insertPeriod(suite.database, account_id, { ended_at: secondsFromNow(DAY_SEC), description });
    expect((await entitlementOf(account_id)).billing_period?.call_rules).toEqual({
      points_per_call_limit: 500,
      graphql_batch_limit: 0,
      graphql_introspection: false,
    });
  });

  test("a member's calls are billed to the manager's period", async () => {
    const [managerId, memberId] = [await insertAccount(suite.database), await insertAccount(suite.database)];
    await insertTeam(suite.database, managerId, memberId);
    await insertPeriod(suite.database, memberId);
    const period_id = await insertPeriod(suite.database, managerId, { team_slots_limit: 9 });
    expect(await entitlementOf(memberId)).toMatchObject({
      account_id: memberId,
      payer_id: managerId,
      billing_period: { period_id, limits: { team_slots_limit: 9 } },
    });
  });

  test('valid_until is the end of the grace window, then nothing', async () => {
    const inGrace = await insertAccount(suite.database);
    const ended_at = secondsFromNow(-DAY_SEC);
    await insertPeriod(suite.database, inGrace, { ended_at });
    expect(await entitlementOf(inGrace)).toMatchObject({
      status: 'grace',
      valid_until: after(ended_at, GRACE_SEC),
    });
    const expired = await insertAccount(suite.database);
    await insertPeriod(suite.database, expired, { ended_at: secondsFromNow(-4 * DAY_SEC) });
    expect(await entitlementOf(expired)).toMatchObject({ status: 'expired', valid_until: null });
  });

  test('valid_until is the start of the next period where that comes first', async () => {
    const account_id = await insertAccount(suite.database);
    await insertPeriod(suite.database, account_id, { ended_at: secondsFromNow(-DAY_SEC) });
    const started_at = secondsFromNow(DAY_SEC);
    await insertPeriod(suite.database, account_id, { started_at, ended_at: secondsFromNow(5 * DAY_SEC) });
    await insertPeriod(suite.database, account_id, {
      started_at: secondsFromNow(6 * DAY_SEC),
      ended_at: secondsFromNow(7 * DAY_SEC),
    });
    expect(await entitlementOf(account_id)).toMatchObject({
      status: 'grace',
      valid_until: started_at.toISOString(),
    });
  });

  test('an account that never had a period has none, until its first one starts', async () => {
    const account_id = await insertAccount(suite.database);
    expect(await entitlementOf(account_id)).toEqual({
      account_id,
      payer_id: account_id,
      status: 'none',
      valid_until: null,
      valid_for_ms: null,
      billing_period: null,
    });
    const started_at = secondsFromNow(DAY_SEC);
    await insertPeriod(suite.database, account_id, { started_at });
    expect(await entitlementOf(account_id)).toMatchObject({
      status: 'none',
      valid_until: started_at.toISOString(),
      billing_period: null,
    });
  });

  test('a block of the caller, the payer or the period is told before all else', async () => {
    const blocked_at = new Date();
    const without = await insertAccount(suite.database, { blocked_at });
    expect(await entitlementOf(without)).toMatchObject({ status: 'blocked', billing_period: null });

    const [managerId, memberId] = [await insertAccount(suite.database), await insertAccount(suite.database)];
    await insertTeam(suite.database, managerId, memberId);
    const period_id = await insertPeriod(suite.database, managerId);
    const blocks = [
      suite.database('accounts').where({ account_id: memberId }),
      suite.database('accounts').where({ account_id: managerId }),
      suite.database('billing_periods').where({ period_id }),
    ];
    for (const row of blocks) {
      await row.clone().update({ blocked_at });
      expect(await entitlementOf(memberId)).toMatchObject({ status: 'blocked', valid_until: null });
      await row.clone().update({ blocked_at: null });
      expect((await entitlementOf(memberId)).status).toBe('active');
    }
  });

  test('an unknown account and an id that no account can have are 404', async () => {
    for (const id of ['999999999', '0', '-1', '01', '1.5', 'x', '9007199254740993', '99999999999999999999']) {
      const response = await getPrivate(suite.account, `/private/entitlements/${id}`);
      expect([id, response.status]).toEqual([id, 404]);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    }
  });

  test('without the service credential it is 401', async () => {
    expect((await getPrivate(suite.account, '/private/entitlements/1', {})).status).toBe(401);
  });
});
