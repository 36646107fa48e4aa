import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { startGraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import type { GraphqlUpstream } from '../../../test/suite/upstreams/graphql-upstream.ts';
import { openRaw, openReady, refusedUpgrade } from '../../../test/suite/raw-socket.ts';

let upstream: GraphqlUpstream;
let gateway: GatewayUnderTest;
let url: string;

beforeAll(async () => {
  upstream = await startGraphqlUpstream();
  gateway = await startGateway({
    env: {
      UPSTREAM_WS_URL: upstream.url,
      TRUSTED_PROXIES: '127.0.0.1',
      WEBSOCKET_MAX_UNIDENTIFIED: '5',
      WEBSOCKET_MAX_UNIDENTIFIED_PER_ADDRESS: '2',
      WEBSOCKET_INIT_TIMEOUT_MS: '60000',
    },
  });
  url = gateway.graphqlUrl.replace('http', 'ws');
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

test('a trusted proxy’s word on earlier hops and its trace go on to the upstream, auth and account', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const raw = await openReady(url, gateway.auth.issue({ accountId: 41 }), {
    headers: {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'api.example.org',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      tracestate: 'vendor=opaque',
      constructor: 'kept',
    },
  });
  raw.send({ id: '1', type: 'subscribe', payload: { query: '{ hello }' } });
  await raw.message({ type: 'complete' });
  raw.socket.close();
  const continued = new RegExp(`^00-${traceId}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`);
  expect(upstream.requests.at(-1)?.headers).toMatchObject({
    'x-forwarded-for': '203.0.113.9, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example.org',
    traceparent: expect.stringMatching(continued),
    tracestate: 'vendor=opaque',
    constructor: 'kept',
  });
  expect(gateway.auth.headersAt('/oauth2/introspect')['traceparent']).toMatch(continued);
  expect(gateway.account.headersAt('/private/entitlements/41')['traceparent']).toMatch(continued);
});

test.each([
  ['ports', 'x-forwarded-for', (port: number) => `192.0.2.50:${String(port)}`],
  ['brackets and ports', 'x-forwarded-for', (port: number) => `[2001:db8:5::1]:${String(port)}`],
  ['IPv6’s form', 'x-forwarded-for', (port: number) => `"[::ffff:192.0.2.51]:${String(port)}"`],
  ['Forwarded', 'forwarded', (port: number) => `for="192.0.2.52:${String(port)}"`],
  ['words', 'x-forwarded-for', (port: number) => `caller-${String(port)}`],
])(
  'sockets without a token are bounded for each address, also where it comes with %s',
  async (_form, name, from) => {
    const headers = (port: number) => ({ headers: { [name]: from(port) } });
    const open = [await openRaw(url, headers(50_001)), await openRaw(url, headers(50_002))];
    expect((await refusedUpgrade(url, headers(50_003))).status).toBe(429);
    for (const { socket } of open) socket.close();
    await Promise.all(open.map(({ closed }) => closed));
  },
);

test('sockets without a token are bounded, for each address and in all; those with one are not concerned', async () => {
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const open = [];
  for (const address of ['192.0.2.1', '192.0.2.1', '2001:db8::1', '2001:db8::2']) {
    open.push(await openRaw(url, from(address)));
  }
  for (const address of ['192.0.2.1', '2001:db8::3']) {
    expect(await refusedUpgrade(url, from(address))).toMatchObject({
      status: 429,
      body: { errors: [{ extensions: { code: 'too_many_requests' } }] },
    });
  }
  open.push(await openRaw(url, from('192.0.2.2')));
  const refused = await refusedUpgrade(url, from('192.0.2.3'));
  expect(refused).toMatchObject({
    status: 503,
    body: { errors: [{ extensions: { code: 'service_unavailable' } }] },
  });
  expect(refused.headers['retry-after']).toBe('1');

  const token = gateway.auth.issue({ accountId: 42 });
  open.push(await openReady(url, token, from('192.0.2.1')));
  // A socket that shows its token makes room.
  open[0]?.send({ type: 'connection_init', payload: { token } });
  await open[0]?.message({ type: 'connection_ack' });
  open.push(await openRaw(url, from('192.0.2.1')));
  for (const { socket } of open) socket.close();
});
