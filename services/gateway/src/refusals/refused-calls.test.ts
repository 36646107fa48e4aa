import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../test/suite/upstreams/graphql-upstream.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';
import { openRaw, openReady, refusedUpgrade } from '../../test/suite/raw-socket.ts';
import { countedRefusals, recordedRefusals, refusalsOf } from '../../test/suite/records/recorded-refusals.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;

beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      UPSTREAM_WS_URL: upstream.url,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
      UPSTREAM_HEADERS_TIMEOUT_MS: '300',
    },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const byProxy = { 'x-forwarded-for': '203.0.113.9' };
const requestIdOf = (answer: { headers: Record<string, unknown> }) => answer.headers['x-request-id'];

/** The one record of a call that was refused just now. */
async function recordOf(answer: { headers: Record<string, unknown> }) {
  const records = await refusalsOf(gateway.redis.url, requestIdOf(answer));
  expect(records).toHaveLength(1);
  return records[0];
}

describe('a refused call is recorded with what is known of its caller', () => {
  test('402: account, payer, application, address, and which limit', async () => {
    gateway.account.entitle(11, withLimits(11, { points_limit: 0 }));
    const token = gateway.auth.issue({ accountId: 11, applicationId: 111 });
    const answer = await gateway.query({ token, headers: byProxy });
    expect(answer.status).toBe(402);
    expect(await recordOf(answer)).toMatchObject({
      kind: 'call',
      code: 'points_limit_exceeded',
      status: 402,
      account_id: 11,
      payer_id: 11,
      application_id: 111,
      client_id: expect.any(String),
      address: '203.0.113.9',
      api_version: 'v2',
      duration_ms: expect.any(Number),
      detail: 'The points of this billing period are used up.',
      unrecorded_before: 0,
      points: 0,
      operation_name: null,
    });
  });

  test('an error of the upstream, with its status and price, and the operation that a URL names', async () => {
    gateway.upstream((req, res) => {
      req.resume();
      res.writeHead(400, { 'content-type': 'application/json', 'x-points': '3' }).end('{"errors":[]}');
    });
    const token = gateway.auth.issue({ accountId: 14, applicationId: 140 });
    gateway.account.entitle(14, withLimits(14, {}));
    const named = await gateway.query({ token, method: 'GET', search: '?query=%7Bx%7D&operationName=Ticks' });
    expect(named.status).toBe(400);
    expect(await recordOf(named)).toMatchObject({
      code: 'upstream_error',
      status: 400,
      account_id: 14,
      payer_id: 14,
      application_id: 140,
      points: 3,
      operation_name: 'Ticks',
      detail: null,
    });
    const secret = await gateway.query({ token, method: 'GET', search: '?operationName=a%20secret!' });
    expect(await recordOf(secret)).toMatchObject({ code: 'upstream_error', operation_name: null });
    gateway.upstream(answerOk);
  });

  test('403 and 429, with the account; 401 with the client that the token names, and never the token', async () => {
    gateway.account.entitle(12, { status: 'blocked' });
    gateway.account.entitle(13, withLimits(13, { rate_limit: 0 }));
    const blocked = await gateway.query({ token: gateway.auth.issue({ accountId: 12 }) });
    expect(await recordOf(blocked)).toMatchObject({
      code: 'account_blocked',
      account_id: 12,
      payer_id: null,
    });
    const limited = await gateway.query({ token: gateway.auth.issue({ accountId: 13 }) });
    expect(await recordOf(limited)).toMatchObject({
      code: 'rate_limit_exceeded',
      status: 429,
      account_id: 13,
      detail: 'The plan allows 0 calls per minute.',
    });
    const dead = gateway.auth.issue();
    gateway.auth.revoke(dead);
    const refused = await recordOf(await gateway.query({ token: dead }));
    expect(refused).toMatchObject({ code: 'unauthorized', status: 401, account_id: null });
    expect(refused?.client_id).toMatch(/^[0-9a-f-]{36}$/);
    const misshapen = await recordOf(await gateway.query({ token: 'no-token' }));
    expect(misshapen).toMatchObject({ code: 'unauthorized', client_id: null });
    const all = JSON.stringify(await recordedRefusals(gateway.redis.url));
    expect(all).not.toContain(dead);
    expect(all).not.toContain(dead.split('_')[2]);
  });

  test('what the caller or the upstream does wrong: 405, 504, an answer that breaks off', async () => {
    const put = await gateway.query({ method: 'PUT' });
    expect(await recordOf(put)).toMatchObject({ code: 'method_not_allowed', status: 405, account_id: null });
    gateway.upstream((req) => req.resume());
    const late = await gateway.query();
    expect(late.status).toBe(504);
    expect(await recordOf(late)).toMatchObject({
      code: 'upstream_timeout',
      account_id: 7,
      application_id: 70,
    });
    gateway.upstream((req, res) => {
      req.resume();
      const head = { 'content-length': 1_000_000, 'x-points': '4' };
      res.writeHead(200, head).write('x'.repeat(100_000), () => res.destroy());
    });
    await expect(gateway.query()).rejects.toThrow();
    await waitFor(async () =>
      (await recordedRefusals(gateway.redis.url)).some(
        ({ code, points }) => code === 'broken' && points === 4,
      ),
    );
    gateway.upstream(answerOk);
  });

  test('a head that the listener refuses: a URL that is too long', async () => {
    const answer = await gateway.query({ method: 'GET', search: `?query=${'x'.repeat(9_000)}` });
    expect(answer.status).toBe(414);
    expect(await recordOf(answer)).toMatchObject({ code: 'uri_too_long', status: 414, address: '127.0.0.1' });
  });

  test('a call that passes leaves no record', async () => {
    const passed = await gateway.query();
    expect(passed.status).toBe(200);
    const refused = await gateway.query({ token: 'no-token' });
    await recordOf(refused);
    const records = await recordedRefusals(gateway.redis.url);
    expect(records.filter(({ request_id }) => request_id === requestIdOf(passed))).toEqual([]);
  });
});

describe('over WebSockets', () => {
  test('a refused upgrade, by its request id', async () => {
    gateway.account.entitle(21, { status: 'expired' });
    const token = gateway.auth.issue({ accountId: 21 });
    const refused = await refusedUpgrade(`${url}?token=${token}`, { headers: byProxy });
    expect(await recordOf(refused)).toMatchObject({
      kind: 'upgrade',
      code: 'no_active_billing_period',
      status: 402,
      account_id: 21,
      address: '203.0.113.9',
    });
  });

  test('an operation that is refused, each time, and a token that connection_init brings', async () => {
    gateway.account.entitle(22, withLimits(22, { subscription_limit: 0 }));
    const raw = await openReady(url, gateway.auth.issue({ accountId: 22 }));
    const payload = { query: 'subscription Ticks { ticks }', operationName: 'Ticks' };
    const start = { type: 'subscribe', payload };
    raw.send({ id: 'a', ...start }, { id: 'b', ...start });
    await waitFor(() => raw.received.filter(({ type }) => type === 'error').length === 2);
    const [error] = raw.received.filter(({ type }) => type === 'error');
    const refusals = error?.payload as { extensions: { request_id: string } }[] | undefined;
    const requestId = refusals?.[0]?.extensions.request_id;
    const records = await refusalsOf(gateway.redis.url, requestId, 2);
    expect(records).toHaveLength(2);
    for (const record of records) {
      expect(record).toMatchObject({
        kind: 'operation',
        code: 'subscription_limit_exceeded',
        account_id: 22,
        points: 0,
        operation_name: 'Ticks',
      });
    }
    raw.socket.close();

    const dead = gateway.auth.issue();
    gateway.auth.revoke(dead);
    const late = await openRaw(url);
    late.send({ type: 'connection_init', payload: { token: dead } });
    await late.closed;
    await waitFor(async () =>
      (await recordedRefusals(gateway.redis.url)).some(
        ({ kind, code, client_id }) => kind === 'socket' && code === 'unauthorized' && client_id !== null,
      ),
    );
  });
});

test('an abuser’s records are bounded, all its calls are counted, and others keep their records', async () => {
  gateway.account.entitle(31, withLimits(31, { points_limit: 0 }));
  const token = gateway.auth.issue({ accountId: 31 });
  for (let round = 0; round < 15; round += 1) {
    await Promise.all(Array.from({ length: 20 }, () => gateway.query({ token })));
  }
  const other = await gateway.query({ token: 'no-token' });
  await recordOf(other);
  const sampledOut = await gateway.metric('tollgate_refused_calls_total', { outcome: 'sampled_out' });
  expect(sampledOut).toBeGreaterThan(0);
  await waitFor(async () => {
    const records = await recordedRefusals(gateway.redis.url);
    return records.filter(({ account_id }) => account_id === 31).length === 300 - sampledOut;
  });
  await waitFor(async () => (await countedRefusals(gateway.redis.url, 31)).calls === 300);
  expect((await countedRefusals(gateway.redis.url, 31)).codes).toEqual(['points_limit_exceeded']);
});

test('while Redis is away records wait, and are there when it is back', async () => {
  expect((await gateway.query()).status).toBe(200);
  await gateway.redis.kill();
  await waitFor(async () => (await gateway.query()).status === 503);
  const refused = await gateway.query();
  expect(refused.status).toBe(503);
  await gateway.redis.restart();
  expect(await recordOf(refused)).toMatchObject({ code: 'service_unavailable', account_id: 7 });
});
