import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { call } from './suite/http-client.ts';
import { startUpstreamServer } from './suite/upstreams/upstream-server.ts';
import type { UpstreamServer } from './suite/upstreams/upstream-server.ts';

let v1: UpstreamServer;
let gateway: GatewayUnderTest;
let without: GatewayUnderTest;

beforeAll(async () => {
  v1 = await startUpstreamServer('/old/api');
  [gateway, without] = await Promise.all([
    startGateway({ env: { UPSTREAM_V1_URL: v1.url } }),
    startGateway(),
  ]);
});

afterAll(async () => {
  await Promise.all([gateway.stop(), without.stop()]);
  await v1.goAway();
});

function callV1(under: GatewayUnderTest, token = under.auth.issue({ accountId: 61 })) {
  return call(`${under.process.publicUrl}/v1/graphql`, {
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  });
}

test('calls of v1 go to its own upstream and through the same pipeline; the usage names the version', async () => {
  v1.does((req, res) => {
    req.resume();
    res.writeHead(200, { 'x-points': '7' }).end('{"data":{}}');
  });
  const answer = await callV1(gateway);
  expect([answer.status, answer.headers['x-points-cost']]).toEqual([200, '7']);
  expect((await gateway.query({ token: gateway.auth.issue({ accountId: 61 }) })).status).toBe(200);
  expect(v1.requests).toEqual(['/old/api']);
  const usage = (await gateway.usage(2)).filter(({ account_id }) => account_id === 61);
  expect(
    usage.map(({ api_version, points, payer_id, period_id }) => [api_version, points, payer_id, period_id]),
  )
    // Both versions share one allowance.
    .toEqual([
      ['v1', 7, 61, 610],
      ['v2', 1, 61, 610],
    ]);
  expect(await gateway.metric('tollgate_upstream_in_flight', { api_version: 'v1' })).toBe(0);
  expect(
    await gateway.metric('tollgate_upstream_headers_duration_seconds_count', { api_version: 'v1' }),
  ).toBe(1);
});

test('a refusal there is a GraphQL response as well', async () => {
  const answer = await callV1(gateway, 'unknown');
  expect(answer.status).toBe(401);
  expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'unauthorized' } }] });
});

test('without an upstream for v1 the path names nothing: 404 as everywhere', async () => {
  const answer = await callV1(without);
  expect(answer.status).toBe(404);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.json()).toMatchObject({ code: 'not_found' });
});
