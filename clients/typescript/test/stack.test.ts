import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { startStack } from '@tollgate/testbed/customer-stack';
import type { Application, Stack } from '@tollgate/testbed/customer-stack';
import { createClient, PlanError } from '../src/index.ts';
import type { SubscriptionEvent, Usage } from '../src/index.ts';

/** Against the real services. The other suites imitate servers that misbehave. */
const LIMITS = { points_limit: 1_000_000, rate_limit: 100_000, session_limit: 2_000, subscription_limit: 10 };
const JAPAN = '{ country(code: "JP") { name } }';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(async () => {
  await stack.stop();
});

const clientOf = ({ clientId, clientSecret }: Application) =>
  createClient({ url: stack.url, clientId, clientSecret });

test('a call tells its data, its cost and what is left', async () => {
  const client = clientOf(await stack.newApplication({ points_limit: 1_000, rate_limit: 60 }));
  const result = await client.request<{ country: { name: string } }>(
    'query Land($code: ID!) { country(code: $code) { name } }',
    { code: 'CH' },
  );
  expect(result).toMatchObject({
    data: { country: { name: 'Switzerland' } },
    cost: 2,
    remaining: 998,
    estimate: 2,
    rate: { remaining: 59, resetSec: 1 },
    billingStatus: 'active',
    requestId: expect.stringMatching(/^\w{32}$/),
  });
});

test('an estimate costs nothing', async () => {
  const client = clientOf(await stack.newApplication({ points_limit: 1_000 }));
  const estimate = await client.estimate('{ countries(first: 100) { name } }');
  expect(estimate).toMatchObject({ points_remaining: 1_000, allowed: true, reason: null, bounded: true });
  expect(estimate.points).toBeGreaterThan(100);
  expect((await client.request(JAPAN)).remaining).toBe(998);
});

test('usage and credits, as the contract has them', async () => {
  const client = clientOf(await stack.newApplication({ points_limit: 1_000 }));
  const usage: UsageResponse = usageResponseSchema.parse((await client.usage()) satisfies Usage);
  expect(usage.billing_period.limits.points_limit).toBe(1_000);
  expect((await client.credits()).credits).toMatchObject({ points_remaining: 0, grants: [] });
});

test('a hundred callers at once make one token request', async () => {
  const client = clientOf(await stack.newApplication(LIMITS));
  const before = await stack.metric(stack.auth, 'tollgate_tokens_issued_total');
  const results = await Promise.all(Array.from({ length: 100 }, () => client.request(JAPAN)));
  expect(results).toHaveLength(100);
  expect(await stack.metric(stack.auth, 'tollgate_tokens_issued_total')).toBe(before + 1);
});

test('a refusal of the plan is a typed error with the limit and its reset', async () => {
  const client = clientOf(await stack.newApplication({ points_limit: 0 }));
  const failure = await client.request(JAPAN).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PlanError);
  expect(failure).toMatchObject({
    code: 'points_limit_exceeded',
    status: 402,
    limit: 0,
    remaining: 0,
    resetsAt: expect.any(Date),
    details: { credits_remaining: 0 },
  });
});

test.each([
  ['document_invalid', '{ country('],
  ['data_api_error', '{ noSuchField }'],
])('%s is an error: %s', async (code, query) => {
  const client = clientOf(await stack.newApplication(LIMITS));
  await expect(client.request(query)).rejects.toMatchObject({ code });
});

test('a revoked application gets no new token', async () => {
  const application = await stack.newApplication(LIMITS);
  const client = clientOf(application);
  await client.request(JAPAN);
  await stack.revoke(application);
  await expect(client.request(JAPAN)).rejects.toMatchObject({ code: 'invalid_client', status: 401 });
});

test('a token that expires is replaced; calls and subscriptions go on', async () => {
  const client = clientOf(await stack.newApplication(LIMITS, 60));
  const query = 'subscription { countryOfTheMoment(intervalMs: 500, times: 160) { code } }';
  const events: SubscriptionEvent<unknown>[] = [];
  for await (const event of client.subscribe(query)) {
    events.push(event);
    if (event.gap !== undefined) break;
  }
  expect(events.length).toBeGreaterThan(60);
  expect(events.at(-1)?.gap).toMatchObject({ reason: 'unauthorized' });
  expect((await client.request(JAPAN)).cost).toBe(2);
  await client.close();
});

test('a subscription ends when it is complete, and when the caller leaves it', async () => {
  const client = clientOf(await stack.newApplication({ ...LIMITS, subscription_limit: 1 }));
  const query = 'subscription { countryOfTheMoment(intervalMs: 100, times: 3) { code } }';
  const codes: unknown[] = [];
  for await (const { data } of client.subscribe<{ countryOfTheMoment: { code: string } }>(query)) {
    codes.push(data?.countryOfTheMoment.code);
  }
  expect(codes).toHaveLength(3);
  for await (const event of client.subscribe(
    'subscription { countryOfTheMoment(intervalMs: 100, times: 600) { code } }',
  )) {
    expect(event.data).toBeDefined();
    break;
  }
  await client.close();
});

test('a subscription that is refused is a typed error', async () => {
  const client = clientOf(await stack.newApplication({ ...LIMITS, subscription_limit: 0 }));
  const events = client.subscribe('subscription { countryOfTheMoment(intervalMs: 100, times: 3) { code } }');
  await expect(events.next()).rejects.toMatchObject({ code: 'subscription_limit_exceeded', limit: 0 });
  await client.close();
});

test('a subscription resumes after the gateway has restarted, and tells the gap', async () => {
  const client = clientOf(await stack.newApplication(LIMITS));
  const events: SubscriptionEvent<unknown>[] = [];
  const query = 'subscription { countryOfTheMoment(intervalMs: 100, times: 600) { code } }';
  let restart: Promise<void> | undefined;
  for await (const event of client.subscribe(query)) {
    events.push(event);
    restart ??= stack.gateway.stop().then(() => stack.gateway.restart());
    if (events.at(-2)?.gap !== undefined) break;
  }
  await restart;
  const gaps = events.flatMap(({ gap }) => gap ?? []);
  expect(gaps).toEqual([{ from: expect.any(Date), to: expect.any(Date), reason: 'service_restart' }]);
  expect(Number(gaps[0]?.to)).toBeGreaterThan(Number(gaps[0]?.from));
  expect(events.at(-1)?.data).toBeDefined();
  await client.close();
});
