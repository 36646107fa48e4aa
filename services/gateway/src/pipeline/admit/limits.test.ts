import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Limits } from '@tollgate/contracts/entitlement';
import { USAGE_SHARD_COUNT, usageShard } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { withLimits } from '../../../test/suite/stand-ins.ts';
import { recordedBatches } from '../../../test/suite/records/recorded-usage.ts';

let gateway: GatewayUnderTest;
let nextAccount = 3_000;

beforeAll(async () => {
  gateway = await startGateway();
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

function caller(
  limits: Partial<Limits>,
  used: { points?: number; traffic_bytes?: number; time_ms?: number } = {},
) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, limits));
  gateway.account.count(accountId * 10, used);
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

const query = '{"query":"{ a }"}';
const subscription = '{"query":"subscription { a }"}';
const periodEnd = '2099-12-31T23:59:59Z';

describe('a limit of the period that is used up: 402, and when the period ends', () => {
  test.each([
    ['points_limit', { points_limit: 10 }, { points: 10 }, query, 'points_limit_exceeded'],
    [
      'traffic_bytes_limit',
      { traffic_bytes_limit: 10 },
      { traffic_bytes: 11 },
      query,
      'traffic_limit_exceeded',
    ],
    ['time_sec_limit', { time_sec_limit: 10 }, { time_ms: 10_000 }, subscription, 'time_limit_exceeded'],
  ] as const)('%s', async (field, limits, used, body, code) => {
    const { token } = caller(limits, used);
    const answer = await gateway.query({ token, body });
    expect(answer.status).toBe(402);
    expect(answer.json()).toMatchObject({
      errors: [
        {
          extensions: {
            code,
            limit: 10,
            remaining: 0,
            period_ended_at: periodEnd,
            help_url: '/user/plan',
          },
        },
      ],
    });
    expect(answer.headers['x-points-cost']).toBe('0');
    expect(answer.headers['x-billing-status']).toBe('active');
    expect(field in limits).toBe(true);
  });
});

test('time that is used up refuses subscriptions, and no other call', async () => {
  const { token } = caller({ time_sec_limit: 10 }, { time_ms: 10_000 });
  expect((await gateway.query({ token, headers: { accept: 'text/event-stream' } })).status).toBe(200);
});

describe('an explicit 0 allows none, and a limit that the plan does not contain is not enforced', () => {
  test.each([
    [{ points_limit: 0 }, query, 402],
    [{ traffic_bytes_limit: 0 }, query, 402],
    [{ time_sec_limit: 0 }, subscription, 402],
    [{ rate_limit: 0 }, query, 429],
    [{ session_limit: 0 }, query, 429],
    [{ subscription_limit: 0 }, subscription, 429],
    [{ subscription_limit: 0 }, query, 200],
    [{ session_limit: 0 }, subscription, 200],
    [{}, query, 200],
  ] as const)('%j', async (limits, body, status) => {
    const { token } = caller(limits);
    const answer = await gateway.query({ token, body });
    expect(answer.status).toBe(status);
    if (status === 429) expect(answer.headers['retry-after']).toBe('60');
  });
});

test('calls pass until the points are used up, and each answer says how many are left', async () => {
  const { token } = caller({ points_limit: 10 }, { points: 3 });
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'x-points': '4' }).end('{}');
  });
  const answers = [
    await gateway.query({ token }),
    await gateway.query({ token }),
    await gateway.query({ token }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 402]);
  expect(answers.map(({ headers }) => headers['x-points-remaining'])).toEqual(['3', '0', '0']);
});

test("the rate: a minute's worth at once, then 429 with the seconds to wait; refused calls cost nothing", async () => {
  const { accountId, token } = caller({ rate_limit: 2, points_limit: 100 });
  const answers = [];
  for (let calls = 0; calls < 6; calls += 1) answers.push(await gateway.query({ token }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429, 429, 429]);
  expect(answers[0]?.headers['ratelimit-policy']).toBe('"rate";q=2;w=60');
  expect(answers[0]?.headers['ratelimit']).toBe('"rate";r=1;t=30');
  const last = answers[5];
  expect(last?.headers['ratelimit']).toBe('"rate";r=0;t=60');
  expect(last?.headers['retry-after']).toBe('30');
  expect(last?.headers['x-points-remaining']).toBe('98');
  expect(last?.json()).toMatchObject({
    errors: [{ extensions: { code: 'rate_limit_exceeded', limit: 2, remaining: 0, retry_after_sec: 30 } }],
  });
  const used = (await gateway.usage(2)).filter(({ account_id }) => account_id === accountId);
  expect(used).toHaveLength(2);
});

test('sessions: 429 while as many calls are in flight, none as soon as a caller has its answer', async () => {
  const { token } = caller({ session_limit: 2 });
  const held: (() => void)[] = [];
  gateway.upstream((_req, res) => {
    held.push(() => res.end('{}'));
  });
  const first = [gateway.query({ token }), gateway.query({ token })];
  while (held.length < 2) await new Promise(setImmediate);
  const refused = await gateway.query({ token });
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json()).toMatchObject({
    errors: [{ extensions: { code: 'session_limit_exceeded', limit: 2 } }],
  });
  for (const end of held) end();
  for (const { status } of await Promise.all(first)) expect(status).toBe(200);
  gateway.upstream(answerOk);
  for (let calls = 0; calls < 20; calls += 1) expect((await gateway.query({ token })).status).toBe(200);
  expect(await gateway.metric('tollgate_leases_held')).toBe(0);
});

test('a batch of several payers of one shard gives back the slots of each', async () => {
  const first = caller({ session_limit: 2 });
  nextAccount += USAGE_SHARD_COUNT - 1;
  const payers = [first, caller({ session_limit: 3 })];
  const ids = payers.map(({ accountId }) => accountId);
  expect(new Set(ids.map(usageShard)).size).toBe(1);
  const calls = [0, 1, 1, 0, 1].map((payer) => payers[payer]?.token ?? '');
  for (let rounds = 0; rounds < 5; rounds += 1) {
    const held: (() => void)[] = [];
    gateway.upstream((_req, res) => {
      held.push(() => res.end('{}'));
    });
    const answers = calls.map((token) => gateway.query({ token }));
    await waitFor(() => held.length === calls.length);
    for (const end of held) end();
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  }
  const batches = await recordedBatches(gateway.redis.url);
  const payersOf = batches.map(({ events }) => new Set(events.map(({ payer_id }) => payer_id)));
  expect(payersOf.some((some) => ids.every((id) => some.has(id)))).toBe(true);
});

test('a call that got no answer of the upstream gives its slot back', async () => {
  const { token } = caller({ session_limit: 1 });
  gateway.upstream((req) => {
    req.socket.destroy();
  });
  for (let calls = 0; calls < 5; calls += 1) expect((await gateway.query({ token })).status).toBe(502);
});

test("what the upstream says of limits does not pass for the gateway's own word", async () => {
  const { token } = caller({});
  gateway.upstream((_req, res) => {
    res
      .writeHead(200, { ratelimit: '"x";r=1', 'ratelimit-policy': '"x";q=1', 'x-points-remaining': '1' })
      .end('{}');
  });
  const { headers } = await gateway.query({ token });
  for (const name of ['ratelimit', 'ratelimit-policy', 'x-points-remaining'])
    expect(headers).not.toHaveProperty(name);
});
