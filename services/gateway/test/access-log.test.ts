import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { startGraphqlUpstream } from './suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from './suite/upstreams/graphql-upstream.ts';
import { begin, call } from './suite/http-client.ts';
import { openReady, refusedUpgrade } from './suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      ACCESS_LOG: 'stdout',
      LOG_LEVEL: 'warn',
      UPSTREAM_WS_URL: upstream.url,
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const byProxy = { 'x-forwarded-for': '203.0.113.9' };

type Line = Record<string, unknown>;

const lines = (): Line[] =>
  gateway.process
    .logs()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** The first line of the access log with these members. */
function lineWith(members: Line): Promise<Line> {
  const fits = (line: Line) =>
    line['log'] === 'access' && Object.entries(members).every(([name, value]) => line[name] === value);
  return waitFor(() => lines().find(fits), { what: `a line with ${JSON.stringify(members)}` });
}

describe('the access log has one line for', () => {
  test('a data call: who called, from where, what it got', async () => {
    gateway.upstream(answerOk);
    const answer = await gateway.query({ headers: byProxy, search: '?token=hunter2' });
    const request_id = answer.headers['x-request-id'];
    const line = await lineWith({ request_id });
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: 'gateway',
      log: 'access',
      method: 'POST',
      path: '/graphql',
      status: 200,
      duration_ms: expect.any(Number),
      bytes: expect.any(Number),
      address: '203.0.113.9',
      request_id,
      account_id: 7,
      application_id: 70,
    });
    expect(line['bytes']).toBeGreaterThan(answer.body.length);
    expect(lines().filter((one) => one['request_id'] === request_id)).toHaveLength(1);
  });

  test('a refusal, a plain route, and a request without a known path, without its secrets', async () => {
    const refused = await gateway.query({ token: 'no-token' });
    expect(await lineWith({ request_id: refused.headers['x-request-id'] })).toMatchObject({ status: 401 });
    const token = gateway.auth.issue();
    const path = `/nowhere/${token}/${'x'.repeat(1_000)}?access_token=${token}`;
    const unknown = await call(`${gateway.process.publicUrl}${path}`, { method: 'GET' });
    const line = await lineWith({ request_id: unknown.headers['x-request-id'] });
    expect(line).toMatchObject({ status: 404, method: 'GET', address: '127.0.0.1' });
    expect(String(line['path']).length).toBeLessThan(300);
    expect(gateway.process.logs()).not.toContain(token.slice(-49));
  });

  test('a caller that goes away before an answer: without a status', async () => {
    let isWithUpstream = false;
    gateway.upstream((req) => {
      req.resume();
      isWithUpstream = true;
    });
    const token = gateway.auth.issue({ accountId: 8 });
    const { request, answer } = begin(`${gateway.process.publicUrl}/graphql`, {
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    });
    answer.catch(() => undefined);
    await waitFor(() => isWithUpstream);
    request.socket?.resetAndDestroy();
    const line = await lineWith({ account_id: 8 });
    expect('status' in line).toBe(false);
    gateway.upstream(answerOk);
  });

  test('a WebSocket when it ends, and a refused upgrade', async () => {
    const url = gateway.graphqlUrl.replace('http', 'ws');
    const raw = await openReady(url, gateway.auth.issue({ accountId: 9 }));
    raw.socket.close();
    expect(await lineWith({ account_id: 9 })).toMatchObject({ method: 'GET', status: 101, path: '/graphql' });
    const refused = await refusedUpgrade(`${url}?token=no-token`, { headers: byProxy });
    expect(await lineWith({ request_id: refused.headers['x-request-id'] })).toMatchObject({
      status: 401,
      address: '203.0.113.9',
    });
  });
});

test('a line of a failure says from where the call came', async () => {
  await gateway.auth.goAway();
  const answer = await gateway.query({ token: gateway.auth.issue(), headers: byProxy });
  await gateway.auth.comeBack();
  expect(answer.status).toBe(503);
  const request_id = answer.headers['x-request-id'];
  const failed = await waitFor(() =>
    lines().find((line) => line['request_id'] === request_id && line['msg'] === 'call failed'),
  );
  expect(failed).toMatchObject({ code: 'service_unavailable', address: '203.0.113.9' });
});
