import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Program } from '@tollgate/stack/debian-program';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { findHaproxy, startHaproxy } from '@tollgate/testbed/haproxy';
import { call } from '../suite/http-client.ts';
import { metricOf } from '../suite/metric.ts';
import { startRealServices } from '../suite/real-services.ts';
import type { RealServices } from '../suite/real-services.ts';
import { startServer } from '../suite/upstreams/server.ts';
import type { TestServer } from '../suite/upstreams/server.ts';

/** HAProxy before two gateways, with the configuration of docs/load-balancing.md. */

const CUSTOMERS = 20;
const HELD = 20;

let program: Program | null;
let upstream: TestServer;
let services: RealServices;
let stopHaproxy: () => Promise<void>;
let url: string;
let tokens: string[];
/** Releases the upstream's responses; null while it answers at once. */
let held: (() => void)[] | null = null;
/** As the upstream got them. */
let lastHeaders: IncomingHttpHeaders = {};

beforeAll(async () => {
  program = await findHaproxy();
  if (program === null) {
    process.stderr.write('Left out: HAProxy is not installed. REQUIRE_HAPROXY=1 gets it.\n');
    return;
  }
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
  const customers = Array.from({ length: CUSTOMERS }, () => services.newCustomer({}));
  tokens = (await Promise.all(customers)).map(({ token }) => token);
  const port = await freePort();
  url = `http://127.0.0.1:${String(port)}/graphql`;
  stopHaproxy = await startHaproxy(program, configuration(port));
  await waitFor(async () => (await call(url, { method: 'GET' })).status < 500, { what: 'HAProxy to listen' });
}, 120_000);

afterAll(async () => {
  if (program === null) return;
  await stopHaproxy();
  await services.stop();
  await upstream.close();
});

/** Only addresses and TLS differ from the page. */
function configuration(port: number): string {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/load-balancing.md'), 'utf8');
  const written = /```haproxy\n(.*?)```/s.exec(page)?.[1] ?? '';
  const lines: (readonly [RegExp, string])[] = [[/bind :443 .*/, `bind 127.0.0.1:${String(port)}`]];
  for (const [index, { publicUrl, privateUrl }] of services.gateways.entries()) {
    const name = `server gateway-${String(index + 1)}`;
    const addresses = `${new URL(publicUrl).host} port ${new URL(privateUrl).port}`;
    lines.push([new RegExp(`${name} .*`), `${name} ${addresses}`]);
  }
  return lines.reduce((text, [old, by]) => {
    if (!old.test(text)) throw new Error(`the page has no ${String(old)}`);
    return text.replace(old, by);
  }, written);
}

const callWith = (token: string, headers = {}) =>
  call(url, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: '{}',
  });

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

const ofEach = (name: string, labels = {}) =>
  Promise.all(services.gateways.map((gateway) => metricOf(gateway, name, labels)));

test('all calls with a token reach the gateway that knows it, and the tokens are spread', async () => {
  if (program === null) return;
  // One after the other: gateways that take turns would both get each token.
  for (const token of tokens.flatMap((one) => [one, one, one])) {
    expect((await callWith(token)).status).toBe(200);
  }
  const misses = await ofEach('tollgate_introspections_total', { outcome: 'miss' });
  // At random it would be twice as many. One of HAProxy's threads may still count a call that another saw end.
  expect(sumOf(misses)).toBeLessThan(CUSTOMERS * 1.25);
  expect(Math.min(...misses)).toBeGreaterThan(0);
});

test('calls of a busy token go to the other gateway too, once its own has more than its share', async () => {
  if (program === null) return;
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

test('what a caller says about proxies and traces is not believed', async () => {
  if (program === null) return;
  const [token = ''] = tokens;
  const trace = '0af7651916cd43dd8448eb211c80319c';
  await callWith(token, {
    'x-forwarded-for': '198.51.100.7',
    'x-forwarded-host': 'other.example',
    'x-forwarded-proto': 'http',
    forwarded: 'for=198.51.100.7;host=other.example',
    traceparent: `00-${trace}-b7ad6b7169203331-01`,
    tracestate: 'other=1',
  });
  expect(lastHeaders).toMatchObject({
    'x-forwarded-host': new URL(url).host,
    'x-forwarded-proto': 'https',
  });
  expect(JSON.stringify(lastHeaders)).not.toMatch(new RegExp(`other|${trace}`));
});

test('calls of a gateway that has gone are handled by the other', async () => {
  if (program === null) return;
  await services.gateways[0].kill();
  for (const token of tokens) expect((await callWith(token)).status).toBe(200);
});
