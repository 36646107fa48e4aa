import { afterEach, expect, test } from '@jest/globals';
import { startGateway } from './suite/gateway.ts';
import type { GatewayUnderTest } from './suite/gateway.ts';
import { call } from './suite/http-client.ts';
import { startRecordingStandIn } from './suite/recording-stand-in.ts';
import type { RecordingStandIn, Seen } from './suite/recording-stand-in.ts';
import { watchUpstream } from './suite/upstreams/watch-upstream.ts';

let gateway: GatewayUnderTest;
let standIn: RecordingStandIn;
const seenByStandIn: Seen[] = [];

afterEach(async () => {
  await gateway.stop();
  await standIn.goAway();
});

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const FROM_PROXY = {
  'x-forwarded-for': '203.0.113.9, 10.0.0.7',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'api.example.org',
  'x-forwarded-port': '8443',
  traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
  tracestate: 'vendor=opaque',
  baggage: 'secret=1',
  'x-request-id': 'a'.repeat(32),
};

/** What reaches the upstream and a plain route's peer of a request with `headers`. */
async function toldOf(trusted: string, headers: Record<string, string>) {
  seenByStandIn.length = 0;
  standIn = await startRecordingStandIn('stand-in', seenByStandIn);
  gateway = await startGateway({
    env: { TRUSTED_PROXIES: trusted },
    publicUrls: { auth: standIn.url, account: standIn.url },
  });
  const seen = watchUpstream(gateway);
  await gateway.query({ headers });
  await call(`${gateway.process.publicUrl}/user/x`, { method: 'GET', headers });
  return [seen[0]?.headers ?? {}, seenByStandIn[0]?.headers ?? {}];
}

test.each(['127.0.0.1', '192.0.2.0/24 127.0.0.0/8'])(
  'a trusted proxy (%s) continues the chain and the trace',
  async (trusted) => {
    for (const told of await toldOf(trusted, FROM_PROXY)) {
      expect(told).toMatchObject({
        'x-forwarded-for': '203.0.113.9, 10.0.0.7, 127.0.0.1',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'api.example.org',
        tracestate: 'vendor=opaque',
      });
      expect(told['traceparent']).toMatch(new RegExp(`^00-${TRACE_ID}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`));
      expect(told['x-request-id']).not.toBe(FROM_PROXY['x-request-id']);
      for (const name of ['baggage', 'x-forwarded-port']) expect(told).not.toHaveProperty(name);
    }
    expect(gateway.auth.headersAt('/oauth2/introspect')['traceparent']).toMatch(
      new RegExp(`^00-${TRACE_ID}-`),
    );
    expect(gateway.account.headersAt('/private/entitlements')['traceparent']).toMatch(
      new RegExp(`^00-${TRACE_ID}-`),
    );
  },
);

test.each([
  ['x-forwarded-for', '203.0.113.9:5678, "[2001:DB8::1]:443"'],
  ['forwarded', 'for="203.0.113.9:5678";proto=https, For="[2001:db8::1]"'],
])('the chain goes on as plain addresses, however a trusted proxy writes it (%s)', async (name, value) => {
  for (const told of await toldOf('127.0.0.1', { [name]: value })) {
    expect(told['x-forwarded-for']).toBe('203.0.113.9, 2001:db8::1, 127.0.0.1');
    expect(told).not.toHaveProperty('forwarded');
  }
});

test.each(['', '10.0.0.0/8 ::1'])('anybody else (trusted: "%s") says nothing of it', async (trusted) => {
  for (const told of await toldOf(trusted, FROM_PROXY)) {
    expect(told).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
    expect(told['x-forwarded-host']).toBe(new URL(gateway.graphqlUrl).host);
    expect(told['traceparent']).toBe(
      `00-${String(told['x-request-id'])}-${String(told['x-request-id']).slice(0, 16)}-00`,
    );
    expect(told).not.toHaveProperty('tracestate');
  }
});

test('what no hop can be called is dropped with all before it, also from a trusted proxy', async () => {
  const headers = {
    'x-forwarded-for': '203.0.113.8, <script>, , 203.0.113.9',
    'x-forwarded-proto': 'gopher',
    'x-forwarded-host': 'evil/../host',
    traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  };
  for (const told of await toldOf('127.0.0.1', headers)) {
    expect(told).toMatchObject({ 'x-forwarded-for': '203.0.113.9, 127.0.0.1', 'x-forwarded-proto': 'http' });
    expect(told['x-forwarded-host']).toBe(new URL(gateway.graphqlUrl).host);
    expect(told['traceparent']).toMatch(new RegExp(`^00-${String(told['x-request-id'])}-`));
  }
});
