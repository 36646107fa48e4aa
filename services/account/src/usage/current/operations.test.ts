import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { newAccessToken } from '@tollgate/credentials/access-token';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { singleRow } from '../../platform/database/single-row.ts';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  insertTeam,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import type { PeriodChanges } from '../../../test/suite/database/records.ts';
import { getUsage, obtainToken } from '../../../test/suite/requests.ts';

const DAY_SEC = 86_400;

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

/** A new account with an application's token. */
async function newCaller(changes: { blocked_at?: Date } = {}): Promise<{ id: number; token: string }> {
  const id = await insertAccount(suite.database, changes);
  const application = await insertApplication(suite.database, id);
  return { id, token: await obtainToken(suite.auth, application) };
}

async function usageOf(token: string): Promise<UsageResponse> {
  const response = await getUsage(suite.account, token);
  expect(response.status).toBe(200);
  return usageResponseSchema.strict().parse(await response.json());
}

describe('GET /api/usage', () => {
  test('answers the period with its plan, limits, usage and raw description', async () => {
    const { id, token } = await newCaller();
    const description = {
      points_limit: 5_000,
      rate_limit: 60,
      session_limit: 3,
      tier: { name: 'gold', tags: ['a'] },
    };
    const name = randomUUID();
    const products = await suite
      .database('products')
      .insert({ name })
      .returning<{ product_id: number }[]>('product_id');
    const { product_id } = singleRow(products);
    const [started_at, ended_at] = [secondsFromNow(-DAY_SEC), secondsFromNow(DAY_SEC)];
    const period_id = await insertPeriod(suite.database, id, {
      started_at,
      ended_at,
      description,
      plan_name: 'Gold',
      product_id,
      team_slots_limit: 4,
    });
    await suite
      .database('usage_totals')
      .insert({ period_id, points: 12, requests: 5, time_ms: 61_999, traffic_bytes: 8_000_000_000 });

    const response = await getUsage(suite.account, token);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('etag')).toBeNull();
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(await response.json()).toEqual({
      account_id: id,
      payer_id: id,
      status: 'active',
      billing_period: {
        started_at: started_at.toISOString().replace('.000Z', 'Z'),
        ended_at: ended_at.toISOString().replace('.000Z', 'Z'),
        plan_name: 'Gold',
        product: { name },
        limits: {
          points_limit: 5_000,
          rate_limit: 60,
          session_limit: 3,
          subscription_limit: 0,
          time_sec_limit: 0,
          traffic_bytes_limit: 0,
          team_slots_limit: 4,
        },
        usage: {
          points_usage: 12,
          requests_usage: 5,
          time_sec_usage: 61,
          traffic_bytes_usage: 8_000_000_000,
        },
        description,
      },
    });
  });

  test('a period without usage and without a product reports zeros and null', async () => {
    const { id, token } = await newCaller();
    await insertPeriod(suite.database, id);
    const { billing_period } = await usageOf(token);
    expect(billing_period.product).toBeNull();
    expect(Object.values(billing_period.usage)).toEqual([0, 0, 0, 0]);
  });

  test('a member gets the period of the manager, who is its payer', async () => {
    const manager = await newCaller();
    const member = await newCaller();
    await insertTeam(suite.database, manager.id, member.id);
    await insertPeriod(suite.database, manager.id, { plan_name: "The manager's" });
    await insertPeriod(suite.database, member.id, { plan_name: "The member's own" });

    const ofMember = await usageOf(member.token);
    expect(ofMember).toMatchObject({ account_id: member.id, payer_id: manager.id });
    const ofManager = await usageOf(manager.token);
    expect(ofManager).toMatchObject({ account_id: manager.id, payer_id: manager.id });
    expect(ofMember.billing_period).toEqual(ofManager.billing_period);
    expect(ofMember.billing_period.plan_name).toBe("The manager's");
  });

  test('a member who has left is billed to its own period from the next call on', async () => {
    const manager = await newCaller();
    const member = await newCaller();
    await insertTeam(suite.database, manager.id, member.id);
    await insertPeriod(suite.database, manager.id);
    await insertPeriod(suite.database, member.id, { plan_name: 'Own' });
    expect((await usageOf(member.token)).payer_id).toBe(manager.id);
    await suite.database('team_members').where({ account_id: member.id }).delete();
    expect(await usageOf(member.token)).toMatchObject({
      payer_id: member.id,
      billing_period: { plan_name: 'Own' },
    });
  });

  test('when no period is active, the most recent one is returned', async () => {
    const { id, token } = await newCaller();
    for (const [plan_name, from, to] of [
      ['oldest', -90, -60],
      ['latest', -40, -20],
      ['middle', -59, -41],
      ['ahead', 20, 50],
    ] as const) {
      await insertPeriod(suite.database, id, {
        plan_name,
        started_at: secondsFromNow(from * DAY_SEC),
        ended_at: secondsFromNow(to * DAY_SEC),
      });
    }
    expect(await usageOf(token)).toMatchObject({
      status: 'expired',
      billing_period: { plan_name: 'latest' },
    });
  });

  test.each<[string, PeriodChanges, { account?: boolean; payer?: boolean }]>([
    ['active', {}, {}],
    ['grace', { ended_at: secondsFromNow(-DAY_SEC) }, {}],
    ['expired', { ended_at: secondsFromNow(-3 * DAY_SEC - 60) }, {}],
    ['expired', { ended_at: secondsFromNow(-60), grace_sec: 0 }, {}],
    ['blocked', { blocked_at: new Date() }, {}],
    ['blocked', { blocked_at: new Date(), ended_at: secondsFromNow(-4 * DAY_SEC) }, {}],
    ['blocked', {}, { account: true }],
    ['blocked', {}, { payer: true }],
  ])(
    'the status is %s for a period with %j and blocks %j, and the answer is 200',
    async (status, changes, blocks) => {
      const blocked = { blocked_at: new Date() };
      const payer = await newCaller(blocks.payer === true ? blocked : {});
      const member = await newCaller(blocks.account === true ? blocked : {});
      await insertTeam(suite.database, payer.id, member.id);
      await insertPeriod(suite.database, payer.id, changes);
      expect((await usageOf(member.token)).status).toBe(status);
    },
  );

  test('with period_id it is that period, with its own usage and status', async () => {
    const { id, token } = await newCaller();
    const past = await insertPeriod(suite.database, id, {
      plan_name: 'Past',
      started_at: secondsFromNow(-40 * DAY_SEC),
      // Its grace window would reach into the next one.
      ended_at: secondsFromNow(-DAY_SEC),
    });
    const current = await insertPeriod(suite.database, id, {
      plan_name: 'Current',
      started_at: secondsFromNow(-DAY_SEC + 1),
    });
    await suite
      .database('usage_totals')
      .insert({ period_id: past, points: 7, requests: 1, time_ms: 0, traffic_bytes: 0 });
    expect(
      usageResponseSchema.strict().parse(await (await getUsage(suite.account, token, past)).json()),
    ).toMatchObject({
      account_id: id,
      payer_id: id,
      status: 'expired',
      billing_period: { plan_name: 'Past', usage: { points_usage: 7, requests_usage: 1 } },
    });
    expect(await (await getUsage(suite.account, token, current)).json()).toEqual(await usageOf(token));
  });

  test("with period_id a member gets a past period of the manager, and not the member's own", async () => {
    const manager = await newCaller();
    const member = await newCaller();
    const own = await insertPeriod(suite.database, member.id);
    await insertTeam(suite.database, manager.id, member.id);
    const paid = await insertPeriod(suite.database, manager.id, { plan_name: "The manager's" });
    expect(await (await getUsage(suite.account, member.token, paid)).json()).toMatchObject({
      account_id: member.id,
      payer_id: manager.id,
      billing_period: { plan_name: "The manager's" },
    });
    expect((await getUsage(suite.account, member.token, own)).status).toBe(404);
  });

  test("with period_id, another payer's period, one ahead and none are all 404 not_found", async () => {
    const { id, token } = await newCaller();
    await insertPeriod(suite.database, id);
    const other = await insertPeriod(suite.database, (await newCaller()).id);
    const ahead = await insertPeriod(suite.database, id, {
      started_at: secondsFromNow(40 * DAY_SEC),
      ended_at: secondsFromNow(50 * DAY_SEC),
    });
    for (const period of [other, ahead, 999_999_999]) {
      const response = await getUsage(suite.account, token, period);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    }
  });

  test.each(['x', '0', '-1', ''])('period_id=%s is 400 and names the field', async (period) => {
    const { id, token } = await newCaller();
    await insertPeriod(suite.database, id);
    const response = await getUsage(suite.account, token, period);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ field: 'period_id' }] });
  });

  test('an account that never had a period, or only one ahead, gets 404 no_billing_period', async () => {
    const { id, token } = await newCaller();
    for (const periods of [0, 1]) {
      if (periods === 1) {
        await insertPeriod(suite.database, id, {
          started_at: secondsFromNow(DAY_SEC),
          ended_at: secondsFromNow(2 * DAY_SEC),
        });
      }
      const response = await getUsage(suite.account, token);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({ code: 'no_billing_period', status: 404 });
    }
  });
});

describe('a caller without a good token', () => {
  const unknown = newAccessToken('tg', randomUUID());

  test.each([
    ['none', {}, 'Bearer realm="tollgate"'],
    ['Basic', { authorization: 'Basic YTpi' }, 'Bearer realm="tollgate"'],
    ['malformed', { authorization: 'Bearer nonsense' }, 'Bearer realm="tollgate", error="invalid_token"'],
    ['unknown', { authorization: `Bearer ${unknown}` }, 'Bearer realm="tollgate", error="invalid_token"'],
  ])('gets 401 Unauthorized: %s', async (_name, headers: Record<string, string>, challenge) => {
    const response = await getUsage(suite.account, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const problem = (await response.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({ title: 'Unauthorized', status: 401, code: 'unauthorized' });
    expect(problem['request_id']).toBe(response.headers.get('x-request-id'));
  });

  test('only the Authorization header counts: not the query, not a cookie', async () => {
    const { id, token } = await newCaller();
    await insertPeriod(suite.database, id);
    const response = await fetch(
      `${suite.account.publicUrl}/api/usage?access_token=${token}&token=${token}`,
      { headers: { cookie: `access_token=${token}` } },
    );
    expect(response.status).toBe(401);
    expect(suite.account.logs()).not.toContain(token);
  });

  test('a token whose account this database never had is 401, not 500', async () => {
    const { id, token } = await newCaller();
    await suite.database('application_secrets').delete();
    await suite.database('applications').where({ account_id: id }).delete();
    await suite.database('accounts').where({ account_id: id }).delete();
    expect((await getUsage(suite.account, token)).status).toBe(401);
  });
});

describe('other requests', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    '%s /api/usage is 405 and names GET',
    async (method) => {
      const response = await fetch(`${suite.account.publicUrl}/api/usage`, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      expect(await response.json()).toMatchObject({ code: 'method_not_allowed' });
    },
  );

  test('HEAD answers as GET does, without a body', async () => {
    const { id, token } = await newCaller();
    await insertPeriod(suite.database, id);
    const response = await fetch(`${suite.account.publicUrl}/api/usage`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test.each([
    '/',
    '/api',
    '/api/usage/',
    '/api/usage/x',
    '/API/usage',
    '/private/clients/x',
    '/health/live',
    '/%zz',
  ])('an unknown path is 404 problem+json, and nothing of the private listener is here: %s', async (path) => {
    const response = await fetch(`${suite.account.publicUrl}${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found' });
  });
});
