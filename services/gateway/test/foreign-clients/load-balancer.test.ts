import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logTail } from '@tollgate/stack/process';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import type { CertificateAuthority } from '@tollgate/testbed/certificates';
import { findLoadBalancer } from '@tollgate/testbed/load-balancers';
import type { LoadBalancer } from '@tollgate/testbed/load-balancers';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { call } from '../suite/http-client.ts';
import type { Answer, Call } from '../suite/http-client.ts';
import { metricOf } from '../suite/metric.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { RealServices } from '../suite/real-services.ts';
import { startServer } from '../suite/upstreams/server.ts';
import type { TestServer } from '../suite/upstreams/server.ts';
import { startDocumentedBalancer } from './documented-balancer.ts';

/** The configurations of docs/load-balancing.md, before two gateways. */

const CUSTOMERS = 20;
const HELD = 20;

let upstream: TestServer;
let services: RealServices;
let authority: CertificateAuthority;
/** Releases the upstream's responses; null while it answers at once. */
let held: (() => void)[] | null = null;
/** As the upstream got them. */
let lastHeaders: IncomingHttpHeaders = {};

beforeAll(async () => {
  authority = createCertificateAuthority();
  upstream = await startServer((req, res) => {
    const answer = () => {
      res.writeHead(200, { 'content-type': 'application/json', 'x-points': '1' }).end('{"data":{}}');
    };
    lastHeaders = req.headers;
    req.resume().once('end', () => {
      if (held === null) answer();
      else held.push(answer);
    });
  });
  services = await startRealServices({
    gatewayEnv: { UPSTREAM_URL: `${upstream.url}/graphql`, TRUSTED_PROXIES: '127.0.0.1' },
  });
});

afterAll(async () => {
  await services.stop();
  await upstream.close();
  authority.remove();
});

type Balanced = {
  url: string;
  tokens: string[];
  /** A request through the balancer. */
  send: (path: string, options?: Call) => Promise<Answer>;
  callWith: (token: string, headers?: Record<string, string>) => Promise<Answer>;
  stop: () => Promise<unknown>;
};

/** Null if that balancer isn't installed. */
async function balancedBy(
  name: LoadBalancer,
  portOf?: (documented: number) => number,
): Promise<Balanced | null> {
  const program = await findLoadBalancer(name);
  if (program === null) {
    process.stderr.write(`Left out: ${name} is not installed. REQUIRE_LOAD_BALANCERS=1 gets it.\n`);
    return null;
  }
  const customers = Array.from({ length: CUSTOMERS }, () => services.newCustomer({}));
  const tokens = (await Promise.all(customers)).map(({ token }) => token);
  const port = await freePort();
  const url = `https://127.0.0.1:${String(port)}`;
  const { gateways } = services;
  const balancer = await startDocumentedBalancer({
    name,
    program,
    port,
    gateways,
    authority,
    ...(portOf === undefined ? {} : { portOf }),
  });
  const ca = readFileSync(authority.file, 'utf8');
  const send = (path: string, options: Call = {}) => call(url + path, { ca, ...options });
  const listens = async () => {
    if (balancer.hasExited()) throw new Error(logTail(balancer.logFile));
    return (await send('/graphql', { method: 'GET' })).status < 500;
  };
  await waitFor(listens, { what: `${name} to listen` });
  const callWith = (token: string, headers = {}) =>
    send('/graphql', {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: '{}',
    });
  return { url, tokens, send, callWith, stop: () => balancer.stop() };
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

const ofEach = (name: string, labels = {}) =>
  Promise.all(services.gateways.map((gateway) => metricOf(gateway, name, labels)));

describe.each(['haproxy', 'nginx'] as const)('%s', (name) => {
  let balanced: Balanced | null;

  beforeAll(async () => {
    balanced = await balancedBy(name);
  });

  afterAll(async () => {
    await balanced?.stop();
  });

  test('all calls with a token reach the gateway that knows it, and the tokens are spread', async () => {
    if (balanced === null) return;
    const { tokens, callWith } = balanced;
    const before = await ofEach('tollgate_introspections_total', { outcome: 'miss' });
    // One after the other: gateways that take turns would both get each token.
    for (const token of tokens.flatMap((one) => [one, one, one])) {
      expect((await callWith(token)).status).toBe(200);
    }
    const after = await ofEach('tollgate_introspections_total', { outcome: 'miss' });
    const misses = after.map((count, index) => count - (before[index] ?? 0));
    // At random it would be twice as many. One of HAProxy's threads may still count a call that another saw end.
    expect(sumOf(misses)).toBeLessThan(CUSTOMERS * 1.25);
    expect(Math.min(...misses)).toBeGreaterThan(0);
  });

  test('requests without the header are spread too', async () => {
    const refused = { listener: 'public', status_class: '4xx' };
    if (balanced === null) return;
    const { send } = balanced;
    const before = await ofEach('tollgate_http_request_duration_seconds_count', refused);
    const statuses = new Set<number>();
    await waitFor(
      async () => {
        statuses.add((await send('/api/usage', { method: 'GET' })).status);
        const counts = await ofEach('tollgate_http_request_duration_seconds_count', refused);
        return counts.every((count, index) => count > (before[index] ?? 0));
      },
      { what: 'both gateways to get a request' },
    );
    expect([...statuses]).toEqual([401]);
  });

  test('what a caller says about proxies and traces is not believed', async () => {
    if (balanced === null) return;
    const { url, tokens, callWith } = balanced;
    const [token = ''] = tokens;
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const answer = await callWith(token, {
      'x-forwarded-for': '198.51.100.7',
      'x-forwarded-host': 'other.example',
      'x-forwarded-proto': 'http',
      forwarded: 'for=198.51.100.7;host=other.example',
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
      tracestate: 'other=1',
    });
    expect(answer.status).toBe(200);
    expect(lastHeaders).toMatchObject({
      'x-forwarded-host': new URL(url).host,
      'x-forwarded-proto': 'https',
    });
    expect(lastHeaders['x-forwarded-for']).toMatch(/^127\.0\.0\.1(?:, 127\.0\.0\.1)*$/);
    expect(JSON.stringify(lastHeaders)).not.toMatch(new RegExp(`other|${trace}`));
  });

  test.each(['/metrics', '/health/ready', '/private/plans'])('%s is not on the internet', async (path) => {
    if (balanced === null) return;
    expect((await balanced.send(path, { method: 'GET' })).status).toBe(404);
  });

  test('if it is sent to the private port, the private listener refuses', async () => {
    const mistaken = await balancedBy(name, (documented) => (documented === 4000 ? 4100 : documented));
    if (mistaken === null) return;
    try {
      for (const path of ['/metrics', '/health/live', '/health/ready']) {
        const answer = await mistaken.send(path, { method: 'GET' });
        expect([answer.status, answer.json()]).toEqual([403, expect.objectContaining({ code: 'forbidden' })]);
      }
    } finally {
      await mistaken.stop();
    }
  });

  test('calls of a gateway that has gone are handled by the other', async () => {
    if (balanced === null) return;
    const { tokens, callWith } = balanced;
    const [gateway] = services.gateways;
    await gateway.kill();
    for (const token of tokens) expect((await callWith(token)).status).toBe(200);
    await gateway.restart();
  });
});

describe('haproxy, which checks and bounds', () => {
  let balanced: Balanced | null;

  beforeAll(async () => {
    balanced = await balancedBy('haproxy');
  });

  afterAll(async () => {
    await balanced?.stop();
  });

  test('calls of a busy token go to the other gateway too, once its own has more than its share', async () => {
    if (balanced === null) return;
    const { tokens, callWith } = balanced;
    const [token = ''] = tokens;
    held = [];
    const calls = Array.from({ length: HELD }, () => callWith(token));
    await waitFor(() => held?.length === HELD, { what: 'all calls to reach the upstream' });
    const inFlight = await ofEach('tollgate_data_calls_in_flight');
    for (const release of held) release();
    held = null;
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(sumOf(inFlight)).toBe(HELD);
    // 125 % of ten are thirteen; HAProxy's threads may count a call or two late.
    expect(Math.max(...inFlight)).toBeLessThanOrEqual(15);
  });

  test('a gateway that still serves but is no longer ready gets no more calls', async () => {
    if (balanced === null) return;
    const { tokens, callWith } = balanced;
    const [gateway] = services.gateways;
    await gateway.stop();
    await gateway.restart({ SHUTDOWN_DELAY_MS: '600000' });
    let statuses = new Set<number>();
    const callAll = async () => {
      for (const token of tokens) statuses.add((await callWith(token)).status);
    };
    const served = () => metricOf(gateway, 'tollgate_data_calls_total');
    await waitFor(
      async () => {
        await callAll();
        return (await served()) > 0;
      },
      { what: 'the gateway to get calls again' },
    );
    statuses = new Set();
    const stopped = gateway.stop();
    await waitFor(
      async () => {
        const before = await served();
        await callAll();
        return (await served()) === before;
      },
      { what: 'calls to leave the gateway' },
    );
    expect([...statuses]).toEqual([200]);
    // A second signal ends the delay.
    await gateway.stop();
    await stopped;
  });
});

test('private listeners of all services refuse what came through a proxy, whatever the credential', async () => {
  const { auth, account, gateways } = services;
  const authorization = basicAuthorization(serviceCredential);
  for (const [url, method] of [
    [`${gateways[1].privateUrl}/metrics`, 'GET'],
    [`${auth.privateUrl}/metrics`, 'GET'],
    [`${auth.privateUrl}/oauth2/introspect`, 'POST'],
    [`${account.privateUrl}/metrics`, 'GET'],
    [`${account.privateUrl}/private/plans`, 'GET'],
  ] as const) {
    const answer = await call(url, { method, headers: { authorization, 'x-forwarded-for': '203.0.113.7' } });
    expect([url, answer.status]).toEqual([url, 403]);
  }
});
