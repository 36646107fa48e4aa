import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { publishEntitlementEvent } from '../../../test/suite/stand-ins.ts';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';

let gateway: GatewayUnderTest;
let nextAccount = 100;

beforeAll(async () => {
  // An answer is kept for five minutes by default, longer than any wait here: only valid_until makes it expire.
  gateway = await startGateway();
});

afterAll(() => gateway.stop());

function caller() {
  const accountId = (nextAccount += 1);
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

function lookUps(accountId: number): number {
  return gateway.account.requests.filter((path) => path.endsWith(`/${String(accountId)}`)).length;
}

describe('a call passes while the period is active or in grace, and says which', () => {
  test.each(['active', 'grace'] as const)('%s', async (status) => {
    const { accountId, token } = caller();
    gateway.account.entitle(accountId, { status });
    const answer = await gateway.query({ token });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-billing-status']).toBe(status);
  });
});

describe('a call is refused where the payer has no such period', () => {
  test.each([
    ['expired', 402, 'no_active_billing_period', 'expired'],
    ['none', 402, 'no_active_billing_period', undefined],
    ['blocked', 403, 'account_blocked', 'blocked'],
  ] as const)('%s: %i %s', async (status, httpStatus, code, billingStatus) => {
    const { accountId, token } = caller();
    gateway.account.entitle(accountId, { status, billing_period: null });
    const answer = await gateway.query({ token });
    expect(answer.status).toBe(httpStatus);
    expect(answer.headers['x-billing-status']).toBe(billingStatus);
    expect(answer.headers['x-points-cost']).toBe('0');
    expect(answer.json()).toEqual({
      errors: [
        {
          message: expect.any(String),
          extensions: {
            ...(httpStatus === 402 ? { help_url: '/user/plan' } : {}),
            code,
            request_id: answer.headers['x-request-id'],
          },
        },
      ],
    });
  });

  test.each([
    ['the payer is told where to pay', 0, 'A payment is due. Pay at https://tollgate.example/user/plan'],
    ['a member, who can pay', 1, 'A payment of your team is due. Only the manager of your team can pay it.'],
  ])('for want of a payment: %s', async (_who, away, detail) => {
    const { accountId, token } = caller();
    const payer = { payer_id: accountId + away, pay_url: 'https://tollgate.example/user/plan' };
    gateway.account.entitle(accountId, { status: 'blocked', billing_period: null, ...payer });
    const answer = await gateway.query({ token });
    expect([answer.status, answer.json()]).toMatchObject([403, { errors: [{ message: detail }] }]);
  });

  test('an account that does not exist any more: 402', async () => {
    const { accountId, token } = caller();
    gateway.account.entitle(accountId, 'unknown');
    expect((await gateway.query({ token })).status).toBe(402);
  });
});

test('an entitlement is asked for once while it is kept', async () => {
  const { accountId, token } = caller();
  for (let calls = 0; calls < 5; calls += 1) await gateway.query({ token });
  expect(lookUps(accountId)).toBe(1);
});

const publish = (message: string) => publishEntitlementEvent(gateway.redis.url, message);

describe('a change of plan takes effect when the gateway is told', () => {
  const blocked = { status: 'blocked', billing_period: null } as const;

  test.each([
    ["the account's own", (accountId: number) => JSON.stringify({ account_id: accountId })],
    ["the payer's", (_accountId: number, payerId: number) => JSON.stringify({ account_id: payerId })],
    ['one that can not be read', () => 'nonsense'],
  ])('event: %s', async (_name, message) => {
    const { accountId, token } = caller();
    const payerId = accountId + 10_000;
    gateway.account.entitle(accountId, { payer_id: payerId });
    expect((await gateway.query({ token })).status).toBe(200);
    gateway.account.entitle(accountId, { ...blocked, payer_id: payerId });
    expect((await gateway.query({ token })).status).toBe(200);
    await publish(message(accountId, payerId));
    await waitFor(async () => (await gateway.query({ token })).status === 403);
  });

  test('an event of somebody else drops nothing', async () => {
    const { accountId, token } = caller();
    await gateway.query({ token });
    await publish(JSON.stringify({ account_id: accountId + 20_000 }));
    await gateway.query({ token });
    expect(lookUps(accountId)).toBe(1);
  });
});

test('an entitlement is not kept past its valid_until', async () => {
  const { accountId, token } = caller();
  gateway.account.entitle(accountId, {
    valid_until: new Date(Date.now() + 300).toISOString(),
    valid_for_ms: 300,
  });
  expect((await gateway.query({ token })).status).toBe(200);
  gateway.account.entitle(accountId, { status: 'expired', billing_period: null });
  await waitFor(async () => (await gateway.query({ token })).status === 402);
});

test('an entitlement whose valid_until has passed is not kept at all', async () => {
  const { accountId, token } = caller();
  gateway.account.entitle(accountId, {
    valid_until: new Date(Date.now() - 1000).toISOString(),
    valid_for_ms: 0,
  });
  await gateway.query({ token });
  await gateway.query({ token });
  expect(lookUps(accountId)).toBe(2);
});

test('a refusal is kept for less than an entitlement: who has paid passes', async () => {
  const { accountId, token } = caller();
  gateway.account.entitle(accountId, { status: 'expired', billing_period: null });
  expect((await gateway.query({ token })).status).toBe(402);
  gateway.account.entitle(accountId, {});
  await waitFor(async () => (await gateway.query({ token })).status === 200);
});

test('account away is 503 with Retry-After; who is cached passes; and it returns by itself', async () => {
  const known = caller();
  const unknown = caller();
  expect((await gateway.query({ token: known.token })).status).toBe(200);
  await gateway.account.goAway();
  const refused = await gateway.query({ token: unknown.token });
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect((await gateway.query({ token: known.token })).status).toBe(200);
  await gateway.account.comeBack();
  await waitFor(async () => (await gateway.query({ token: unknown.token })).status === 200);
});

test('an answer of account that breaks the contract lets nobody through', async () => {
  const { accountId, token } = caller();
  gateway.account.entitle(accountId, { status: 'active', billing_period: null });
  expect((await gateway.query({ token })).status).toBe(503);
});
