import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import type { Entitlement, Limits } from '@tollgate/contracts/entitlement';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { answerFor, holdAnswers } from '../../../test/suite/load/limited-calls.ts';
import { openReady } from '../../../test/suite/raw-socket.ts';
import { withBudgets, withCallRules } from '../../../test/suite/stand-ins.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { untilStatus } from '../../../test/suite/until-status.ts';

const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION
  directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
  type Query { users(first: Int): [User] @listSize(slicingArguments: ["first"]) me: User }
  type Subscription { ticks: Int @cost(weight: "2") }
  type User { name: String @cost(weight: "2") }
`;

/** Costs 7 at most. */
const BODY = '{"query":"{ users(first: 3) { name } }"}';
const POINTS_PER_MINUTE = 7;

const subscribe = { type: 'subscribe', payload: { query: 'subscription { ticks }' } };

let folder: string;
let gateway: GatewayUnderTest;
let twin: Pick<GatewayUnderTest, 'process' | 'query'>;
let upstream: GraphqlUpstream;
let nextAccount = 14_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strict-'));
  const path = join(folder, 'schema.graphql');
  await writeFile(path, SDL);
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      GRAPHQL_SCHEMA: path,
      UPSTREAM_WS_URL: upstream.url,
      SUBSCRIPTION_POINTS_PER_MINUTE: String(POINTS_PER_MINUTE),
      DEFAULT_POINTS: '5',
    },
  });
  twin = await gateway.startTwin();
});

beforeEach(() => {
  gateway.upstream(answerFor(7));
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(folder, { recursive: true });
});

function caller(entitle: (accountId: number) => Partial<Entitlement>) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, entitle(accountId));
  const token = gateway.auth.issue({ accountId, applicationId: accountId * 100 });
  return { accountId, token, call: (door = gateway as typeof twin) => door.query({ token, body: BODY }) };
}

const strict = (limits: Partial<Limits>) =>
  caller((accountId) => withCallRules(accountId, { strict_points: true }, limits));

/** Points of the plan are more than enough. */
function withBudget(points: number) {
  return caller((id) => {
    const budget = { application_id: id * 100, points_per_period: points, points_per_day: null };
    const { billing_period } = withBudgets(id, { applications: [budget] });
    if (billing_period === undefined || billing_period === null) return {};
    return { billing_period: { ...billing_period, call_rules: { strict_points: true } } };
  });
}

test('a call is refused if the points left don’t cover its estimate, which is told', async () => {
  const { call } = strict({ points_limit: 10 });
  expect((await call()).status).toBe(200);
  const refused = await call(twin);
  expect([refused.status, refused.headers['x-points-remaining'], refused.json()]).toMatchObject([
    402,
    '3',
    {
      errors: [
        {
          message: 'The operation would cost up to 7 points; 3 are left in this billing period.',
          extensions: { code: 'points_limit_exceeded', limit: 10, remaining: 3, estimate: 7 },
        },
      ],
    },
  ]);
});

test('what a call in flight has reserved is left to no other, and what it doesn’t use is', async () => {
  const { token, call } = strict({ points_limit: 10 });
  const waiting = holdAnswers(gateway.upstream);
  const first = call();
  await waitFor(() => waiting.length === 1);
  const refused = await call(twin);
  expect([refused.status, refused.headers['retry-after'], refused.json()]).toMatchObject([
    429,
    '1',
    { errors: [{ extensions: { code: 'points_reserved', estimate: 7, retry_after_sec: 1 } }] },
  ]);
  const estimate = await twin.query({ token, body: BODY, headers: { 'x-points-estimate': 'only' } });
  expect(estimate.json()).toMatchObject({
    extensions: { estimate: { points_remaining: 10, allowed: false, reason: 'points_reserved' } },
  });
  waiting[0]?.(3);
  expect((await first).status).toBe(200);
  gateway.upstream(answerFor(7));
  expect((await call(twin)).status).toBe(200);
});

test.each([
  [
    'a 5xx',
    (res: { writeHead: (status: number) => { end: (body: string) => unknown } }) =>
      res.writeHead(500).end('{}'),
  ],
  ['a lost connection', (res: { destroy: () => unknown }) => res.destroy()],
])('%s gives all of it back', async (_what, fail) => {
  const { call } = strict({ points_limit: 7 });
  gateway.upstream((_req, res) => {
    fail(res);
  });
  expect((await call()).status).toBeGreaterThanOrEqual(500);
  gateway.upstream(answerFor(7));
  await waitFor(async () => (await call(twin)).status === 200);
});

test('a gateway that is killed holds points for 10 s at most, and a long call as long as it lasts', async () => {
  const { call } = strict({ points_limit: 14 });
  const waiting = holdAnswers(gateway.upstream);
  const doomed = await gateway.startTwin();
  const long = call();
  const lost = call(doomed).catch(() => undefined);
  await waitFor(() => waiting.length === 2);
  expect((await call(twin)).status).toBe(429);
  await doomed.process.kill();
  await lost;
  gateway.upstream(answerFor(7));
  await waitFor(async () => (await call(twin)).status === 200);
  expect((await call(twin)).status).toBe(429);
  for (const end of waiting) end(0);
  expect((await long).status).toBe(200);
  expect((await call(twin)).status).toBe(200);
});

test('budgets of an application and a member are strict, too', async () => {
  const { call, accountId } = caller((id) => {
    const budgets = {
      member: { points_per_period: null, points_per_day: 100 },
      applications: [{ application_id: id * 100, points_per_period: 10, points_per_day: null }],
    };
    const { billing_period } = withBudgets(id, budgets);
    if (billing_period === undefined || billing_period === null) return {};
    return { billing_period: { ...billing_period, call_rules: { strict_points: true } } };
  });
  const waiting = holdAnswers(gateway.upstream);
  const first = call();
  await waitFor(() => waiting.length === 1);
  expect((await call(twin)).json()).toMatchObject({ errors: [{ extensions: { code: 'points_reserved' } }] });
  // Another application of the member has no budget of its own.
  const other = twin.query({ token: gateway.auth.issue({ accountId, applicationId: 1 }), body: BODY });
  await waitFor(() => waiting.length === 2);
  for (const end of waiting) end(7);
  expect([(await first).status, (await other).status]).toEqual([200, 200]);
  expect((await call(twin)).json()).toMatchObject({
    errors: [
      {
        message: "The operation would cost up to 7 points; 3 are left of the application's budget.",
        extensions: { code: 'budget_exceeded', limit: 10, remaining: 3, estimate: 7 },
      },
    ],
  });
});

test('a subscription reserves its next minute, and ends when that isn’t covered', async () => {
  // Each holds 2 for its next event.
  const { token, accountId } = strict({ points_limit: 3 * POINTS_PER_MINUTE + 4 - 1 });
  const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
  raw.send({ id: 'a', ...subscribe }, { id: 'b', ...subscribe });
  await raw.message({ type: 'next', id: 'a' });
  await raw.message({ type: 'next', id: 'b' });
  // The first minutes of both are 14 points, and with what they hold for the next ones, they would be 32.
  expect((await raw.message({ type: 'error', id: 'a' })).payload).toMatchObject([
    { extensions: { code: 'points_reserved' } },
  ]);
  await waitFor(async () => {
    const events = (await gateway.usage(0)).filter(({ account_id }) => account_id === accountId);
    return events.reduce((sum, { points }) => sum + points, 0) === 2 * POINTS_PER_MINUTE;
  });
  raw.socket.close();
});

test.each([
  ['points', (limit: number) => strict({ points_limit: limit }), 'points_limit_exceeded'],
  ['budget', withBudget, 'budget_exceeded'],
])(
  'of the %s, a subscription’s own reservations are no reason to wait: at its begin and for its next minute',
  async (_what, limitedTo, code) => {
    const short = limitedTo(POINTS_PER_MINUTE + 1);
    const refused = await openReady(gateway.graphqlUrl.replace('http', 'ws'), short.token);
    refused.send({ id: 'a', ...subscribe });
    expect((await refused.message({ type: 'error', id: 'a' })).payload).toMatchObject([
      { extensions: { code, remaining: POINTS_PER_MINUTE + 1, estimate: POINTS_PER_MINUTE + 2 } },
    ]);
    refused.socket.close();
    const { token } = limitedTo(2 * POINTS_PER_MINUTE + 1);
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
    raw.send({ id: 'a', ...subscribe });
    await raw.message({ type: 'next', id: 'a' });
    expect((await raw.message({ type: 'error', id: 'a' })).payload).toMatchObject([
      { extensions: { code, remaining: POINTS_PER_MINUTE + 1, estimate: POINTS_PER_MINUTE + 2 } },
    ]);
    raw.socket.close();
  },
);

test('points that Redis has forgotten are not given twice', async () => {
  const { call, accountId } = strict({ points_limit: 10 });
  gateway.account.count(accountId * 10, { stream_position: '1-0' });
  gateway.upstream(answerFor(0));
  // A Redis that lacks what account has counted has just lost it.
  await waitFor(async () => (await call()).status === 200);
  const waiting = holdAnswers(gateway.upstream);
  const first = call();
  await waitFor(() => waiting.length === 1);
  const redis = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  await redis.flushall();
  redis.disconnect();
  // Until it is restored, 503.
  await untilStatus(async () => (await call(twin)).status, 429, [503]);
  waiting[0]?.(7);
  expect((await first).status).toBe(200);
});

test('a stream over HTTP reserves an event, for what its head states, beside its minute', async () => {
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-points': '2' });
    res.end('event: complete\ndata:\n\n');
  });
  const body = '{"query":"subscription { ticks }"}';
  const short = strict({ points_limit: POINTS_PER_MINUTE + 1 });
  const ask = { 'x-points-estimate': 'only' };
  const [estimate, refused] = [
    await gateway.query({ token: short.token, body, headers: ask }),
    await gateway.query({ token: short.token, body }),
  ];
  expect(estimate.json()).toMatchObject({ extensions: { estimate: { points: 2, allowed: false } } });
  expect([refused.status, refused.json()]).toMatchObject([
    402,
    { errors: [{ extensions: { code: 'points_limit_exceeded', estimate: POINTS_PER_MINUTE + 2 } }] },
  ]);
  const { token, accountId } = strict({ points_limit: POINTS_PER_MINUTE + 2 });
  expect((await gateway.query({ token, body })).status).toBe(200);
  const events = (await gateway.usage(1, accountId)).filter(({ account_id }) => account_id === accountId);
  expect(events.reduce((sum, { points }) => sum + points, 0)).toBe(POINTS_PER_MINUTE + 2);
});

test.each([
  ['a list of unknown length', '{ users { name } }'],
  ['a negative length', '{ users(first: -1) { name } }'],
  ['an operation of unknown type', 'query A { me { name } } subscription B { ticks }'],
])('%s has no highest price', async (_what, query) => {
  const { token } = strict({ points_limit: 1_000 });
  const body = JSON.stringify({ query });
  const [refused, estimate] = [
    await gateway.query({ token, body }),
    await gateway.query({ token, body, headers: { 'x-points-estimate': 'only' } }),
  ];
  expect([refused.status, refused.json()]).toMatchObject([
    400,
    { errors: [{ extensions: { code: 'price_unknown' } }] },
  ]);
  expect(estimate.json()).toMatchObject({
    extensions: { estimate: { allowed: false, reason: 'price_unknown' } },
  });
  const lenient = caller((accountId) => withCallRules(accountId, {}, { points_limit: 1_000 }));
  expect((await gateway.query({ token: lenient.token, body })).status).toBe(200);
});

const PARTS = ['{"hasNext":true}', '{"hasNext":false}']
  .map((part) => `\r\n---\r\ncontent-type: application/json\r\n\r\n${part}`)
  .join('');

test.each([
  ['application/json', '{}', 3],
  ['multipart/mixed; boundary="-"', `${PARTS}\r\n-----\r\n`, 3],
])('without a stated price, %s costs no more than is reserved', async (type, answer, points) => {
  gateway.upstream((_req, res) => res.writeHead(200, { 'content-type': type }).end(answer));
  const { token, accountId } = strict({ points_limit: 3 });
  const body = '{"query":"{ me { name } }"}';
  expect((await gateway.query({ token, body })).status).toBe(200);
  expect(await gateway.usage(1, accountId)).toMatchObject([{ points }]);
});

/** Without a text there is nothing to price. */
const UNPRICED = '{"variables":{}}';

test('without a price, and of a plan that isn’t strict', async () => {
  const { token } = strict({ points_limit: 10 });
  const unpriced = await gateway.query({ token, body: UNPRICED });
  expect(unpriced.json()).toMatchObject({ errors: [{ extensions: { code: 'price_unknown' } }] });
  const lenient = caller((accountId) => withCallRules(accountId, {}, { points_limit: 1 }));
  expect((await lenient.call()).status).toBe(200);
  const unlimited = strict({ points_limit: null });
  expect((await gateway.query({ token: unlimited.token, body: UNPRICED })).status).toBe(200);
});
