import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Limits } from '@tollgate/contracts/entitlement';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { begin } from '../../test/suite/http-client.ts';
import { publishEntitlementEvent, withBudgets, withCredits, withLimits } from '../../test/suite/stand-ins.ts';

let gateway: GatewayUnderTest;
let nextAccount = 9_000;
let open: ServerResponse[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    env: { SUBSCRIPTION_POINTS_PER_MINUTE: '3', INTROSPECTION_CACHE_TTL_MS: '1' },
  });
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('event: next\n\n');
    open.push(res);
  });
});

afterAll(() => gateway.stop());

function caller(limits: Partial<Limits>, used: { time_ms?: number } = {}) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, limits));
  gateway.account.count(accountId * 10, used);
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

const SUBSCRIPTION = '{"query":"subscription { a }"}';
/** Its type is unknown. */
const AMBIGUOUS = '{"query":"query A { a } subscription B { a }"}';

async function subscribe(token: string, { accept = 'text/event-stream', body = SUBSCRIPTION } = {}) {
  open = [];
  const { request, answer } = begin(gateway.graphqlUrl, {
    headers: { authorization: `Bearer ${token}`, accept },
    body,
  });
  const response = await answer;
  const ended = new Promise<'whole' | 'cut'>((resolve) => {
    response.once('close', () => {
      resolve(response.complete ? 'whole' : 'cut');
    });
  });
  let received = '';
  response.on('error', () => undefined).on('data', (chunk: Buffer) => (received += chunk.toString()));
  return { request, status: response.statusCode, ended, received: () => received };
}

/** The errors of the result before the last event. */
function lastErrors(events: string): unknown {
  const data = /^data: (.*)$/m.exec(events)?.[1] ?? '{}';
  return (JSON.parse(data) as { errors?: unknown }).errors;
}

async function usageOf(accountId: number, events: number) {
  return waitFor(async () => {
    const found = (await gateway.usage(0)).filter(({ account_id }) => account_id === accountId);
    return found.length >= events ? found : undefined;
  });
}

const sum = <K extends string>(events: readonly Record<K, number>[], field: K) =>
  events.reduce((total, event) => total + event[field], 0);

test('an open stream is one request and its first minute at once, then its time and bytes', async () => {
  const { accountId, token } = caller({});
  const beganMs = performance.now();
  const { status, ended } = await subscribe(token);
  expect(status).toBe(200);
  expect(await usageOf(accountId, 1)).toMatchObject([
    { requests: 1, points: 3, time_ms: expect.any(Number) },
  ]);
  // Open streams are settled every five seconds.
  const whileOpen = await usageOf(accountId, 2);
  expect(sum(whileOpen, 'time_ms')).toBeGreaterThanOrEqual(4_000);
  expect(sum(whileOpen, 'traffic_bytes')).toBe('event: next\n\n'.length);
  open[0]?.end('event: complete\n\n');
  expect(await ended).toBe('whole');
  const all = await usageOf(accountId, 3);
  expect(sum(all, 'requests')).toBe(1);
  expect(sum(all, 'points')).toBe(3);
  expect(sum(all, 'traffic_bytes')).toBe('event: next\n\nevent: complete\n\n'.length);
  expect(sum(all, 'time_ms')).toBeLessThanOrEqual(performance.now() - beganMs);
});

test('a stream ends when the period has no time left, says so, and its slot is free', async () => {
  const { accountId, token } = caller({ time_sec_limit: 100, subscription_limit: 1 }, { time_ms: 99_500 });
  const { ended, received } = await subscribe(token);
  expect(await ended).toBe('whole');
  expect(lastErrors(received())).toMatchObject([{ extensions: { code: 'time_limit_exceeded' } }]);
  const time = sum(await usageOf(accountId, 2), 'time_ms');
  expect(time).toBeGreaterThanOrEqual(500);
  // Before open streams are settled.
  expect(time).toBeLessThan(5_000);
  const answer = await gateway.query({ token, body: SUBSCRIPTION });
  expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'time_limit_exceeded' } }] });
  expect(await gateway.metric('tollgate_leases_held')).toBe(0);
});

test('a stream ends when no credits are left, says so, and the points of its first minute are used', async () => {
  const { accountId, token } = caller({});
  const grants = [{ points: 2, from_ms: null, until_ms: null }];
  gateway.account.entitle(accountId, withCredits(accountId, { grants }));
  const { ended, received } = await subscribe(token);
  expect(await ended).toBe('whole');
  expect(lastErrors(received())).toMatchObject([{ extensions: { code: 'points_limit_exceeded' } }]);
  expect(sum(await usageOf(accountId, 2), 'points')).toBe(3);
});

test("streams end when others have used up the application's budget, and a new one is refused", async () => {
  const { accountId, token } = caller({});
  const member = { points_per_period: null, points_per_day: 8 };
  gateway.account.entitle(accountId, withBudgets(accountId, { member }));
  const first = await subscribe(token);
  const second = await subscribe(token);
  const third = await subscribe(token);
  for (const { ended, received } of [first, second, third]) {
    expect(await ended).toBe('whole');
    const extensions = { code: 'budget_exceeded', budget: 'member', window: 'day', limit: 8 };
    expect(lastErrors(received())).toMatchObject([{ extensions }]);
  }
  expect(sum(await usageOf(accountId, 3), 'points')).toBe(9);
  expect((await gateway.query({ token, body: SUBSCRIPTION })).status).toBe(402);
});

test('subscriptions: one more than the plan allows is 429, and a caller that goes away makes room', async () => {
  const { token } = caller({ subscription_limit: 1 });
  const { request } = await subscribe(token);
  const refused = await gateway.query({ token, body: SUBSCRIPTION });
  expect(refused.status).toBe(429);
  expect(refused.json()).toMatchObject({
    errors: [{ extensions: { code: 'subscription_limit_exceeded', limit: 1, retry_after_sec: 1 } }],
  });
  request.destroy();
  const next = await waitFor(async () => {
    const one = await subscribe(token);
    return one.status === 200 ? one : undefined;
  });
  next.request.destroy();
});

test('a stream whose token is revoked ends with an event that says so, which is no traffic', async () => {
  const revoked = caller({});
  const { ended: first, received } = await subscribe(revoked.token);
  gateway.auth.revoke(revoked.token);
  expect(await first).toBe('whole');
  expect(received()).toMatch(/^event: next\n\nevent: next\ndata: .*\n\nevent: complete\ndata:\n\n$/);
  expect(lastErrors(received())).toEqual([
    {
      message: 'Unauthorized',
      extensions: { code: 'unauthorized', request_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    },
  ]);
  const usage = await usageOf(revoked.accountId, 2);
  expect(sum(usage, 'traffic_bytes')).toBe('event: next\n\n'.length);
  expect(await gateway.metric('tollgate_data_calls_total', { outcome: 'unauthorized' })).toBe(1);
});

test('a persisted operation that turns out to be a subscription costs its time, and needs its slot', async () => {
  const { accountId, token } = caller({ subscription_limit: 1, session_limit: 1 });
  const first = await subscribe(token, { body: AMBIGUOUS });
  // The call's own slot is free again.
  await waitFor(async () => {
    const { status, ended } = await subscribe(token, { body: AMBIGUOUS });
    return status === 200 && (await ended) === 'whole';
  });
  first.request.destroy();
  await waitFor(async () => sum(await usageOf(accountId, 1), 'time_ms') > 0);
  await waitFor(async () => {
    const next = await subscribe(token);
    next.request.destroy();
    return next.status === 200;
  });
});

describe('an open stream whose entitlement changes', () => {
  const change = async (accountId: number, entitlement: Parameters<typeof gateway.account.entitle>[1]) => {
    gateway.account.entitle(accountId, entitlement);
    await publishEntitlementEvent(gateway.redis.url, JSON.stringify({ account_id: accountId }));
  };

  test('is charged to the former period until then, and to the new one from then on', async () => {
    const { accountId, token } = caller({});
    const { request, received } = await subscribe(token);
    await waitFor(() => received() !== '');
    await usageOf(accountId, 1);
    const beganMs = performance.now();
    await change(accountId, withLimits(accountId, {}, accountId * 10 + 1));
    const [, former, next] = await usageOf(accountId, 3);
    request.destroy();
    expect(former).toMatchObject({ period_id: accountId * 10, traffic_bytes: 'event: next\n\n'.length });
    expect(next).toMatchObject({ period_id: accountId * 10 + 1, requests: 0, points: 0, traffic_bytes: 0 });
    expect(next?.time_ms).toBeLessThanOrEqual(performance.now() - beganMs);
  });

  test('is charged to the former payer until then, and held to the new one’s limits at once', async () => {
    const { accountId, token } = caller({});
    const memberId = (nextAccount += 1);
    const { ended, received } = await subscribe(token);
    await waitFor(() => received() !== '');
    await usageOf(accountId, 1);
    await change(accountId, { payer_id: memberId, ...withLimits(memberId, { time_sec_limit: 0 }) });
    expect(await ended).toBe('whole');
    expect(lastErrors(received())).toMatchObject([{ extensions: { code: 'time_limit_exceeded' } }]);
    const usage = await usageOf(accountId, 3);
    const [former, own] = [accountId, memberId].map((id) => usage.filter(({ payer_id }) => payer_id === id));
    expect(sum(former ?? [], 'traffic_bytes')).toBe('event: next\n\n'.length);
    expect(sum(own ?? [], 'traffic_bytes')).toBe(0);
    // It ran for less than the interval at which streams are settled.
    expect(sum(own ?? [], 'time_ms')).toBeLessThan(4_000);
  });

  test('ends if no slot is left for it', async () => {
    const { accountId, token } = caller({});
    const { ended, received } = await subscribe(token);
    await waitFor(() => received() !== '');
    await change(accountId, withLimits(accountId, { subscription_limit: 0 }));
    expect(await ended).toBe('whole');
    expect(lastErrors(received())).toMatchObject([{ extensions: { code: 'subscription_limit_exceeded' } }]);
    expect(await gateway.metric('tollgate_leases_held')).toBe(0);
  });

  test('keeps its slot in the new period, and gives it back at its end', async () => {
    const { accountId, token } = caller({ subscription_limit: 1 });
    const { request } = await subscribe(token);
    await change(accountId, withLimits(accountId, { subscription_limit: 2 }));
    // Refused until the gateway has received the change.
    await waitFor(async () => (await subscribe(token)).status === 200);
    await waitFor(async () => {
      const { status, request: third } = await subscribe(token);
      third.destroy();
      return status === 429;
    });
    request.destroy();
    await waitFor(async () => (await gateway.metric('tollgate_leases_held')) === 1);
  });
});

test('a subscription that is answered with a document costs what a call costs', async () => {
  const { accountId, token } = caller({});
  gateway.upstream((_req, res) => res.end('{"data":{}}'));
  const answer = await gateway.query({ token, body: SUBSCRIPTION });
  expect(answer.headers['x-points-cost']).toBe('1');
  expect(await usageOf(accountId, 1)).toMatchObject([{ requests: 1, points: 1 }]);
});

/** Opens a stream that has sent `part`, and revokes its token. */
async function revokeWithin(headers: OutgoingHttpHeaders, part: string | Buffer) {
  const { token } = caller({});
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).write(part);
  });
  const { ended, received } = await subscribe(token);
  await waitFor(() => received() !== '');
  gateway.auth.revoke(token);
  return { ended: await ended, received: received() };
}

test.each(['none', 'identity', 'Identity, none'])(
  'Content-Encoding: %s is no coding: the last event says why',
  async (coding) => {
    const { ended, received } = await revokeWithin({ 'content-encoding': coding }, 'event: next\n\n');
    expect(ended).toBe('whole');
    expect(lastErrors(received)).toMatchObject([{ extensions: { code: 'unauthorized' } }]);
  },
);

test.each(['gzip', 'gzip, identity'])(
  'a stream in the coding %s takes no event, and ends whole',
  async (coding) => {
    const part = gzipSync('event: next\n\n');
    const { ended, received } = await revokeWithin({ 'content-encoding': coding }, part);
    expect(ended).toBe('whole');
    expect(received).toBe(part.toString());
  },
);

test('a stream within an event is reset', async () => {
  const part = 'event: next\ndata: {"da';
  expect(await revokeWithin({}, part)).toEqual({ ended: 'cut', received: part });
});

test('a multipart subscription ends with a part that says why', async () => {
  const { token } = caller({});
  const first = '--graphql\r\ncontent-type: application/json\r\n\r\n{"payload":{"data":1}}\r\n--graphql\r\n';
  gateway.upstream((_req, res) => {
    const type = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0';
    res.writeHead(200, { 'content-type': type }).write(first);
  });
  const { ended, received } = await subscribe(token, { accept: 'multipart/mixed;subscriptionSpec=1.0' });
  await waitFor(() => received() !== '');
  gateway.auth.revoke(token);
  expect(await ended).toBe('whole');
  const [head, document, end] = received().slice(first.length).split('\r\n\r\n').join('\r\n').split('\r\n');
  expect([head, end]).toEqual(['content-type: application/json', '--graphql--']);
  expect(JSON.parse(document ?? '')).toMatchObject({
    payload: null,
    errors: [{ message: 'Unauthorized', extensions: { code: 'unauthorized' } }],
  });
});
