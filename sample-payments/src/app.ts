import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClock } from './clock.ts';
import type { Config } from './config.ts';
import { createDeliveries } from './deliveries.ts';
import type { Double } from './double.ts';
import { expand } from './expand.ts';
import { Failure } from './http/failure.ts';
import { parseForm } from './http/form.ts';
import type { Form } from './http/form.ts';
import { fingerprintOf, recall } from './idempotency.ts';
import { newId } from './ids.ts';
import { API_VERSION } from './objects/event.ts';
import { servePage } from './pages/serve.ts';
import { onTestClocks } from './payments/test-clocks.ts';
import { BILLING } from './resources/billing.ts';
import { CATALOGUE } from './resources/catalogue.ts';
import { CHECKOUT_SESSIONS } from './resources/checkout-sessions.ts';
import { CUSTOMERS } from './resources/customers.ts';
import { PAYMENTS } from './resources/payments.ts';
import { EVENTS, PORTAL } from './resources/portal.ts';
import { SAMPLE } from './resources/sample.ts';
import { TEST_CLOCKS } from './resources/test-clocks.ts';
import { stateFirstLines } from './stated-lines.ts';
import { createStore } from './store.ts';

const ROUTES = [
  CUSTOMERS,
  CATALOGUE,
  PAYMENTS,
  CHECKOUT_SESSIONS,
  onTestClocks(BILLING),
  TEST_CLOCKS,
  PORTAL,
  EVENTS,
  SAMPLE,
].flat();

const MAX_BODY_BYTES = 1_048_576;

/**
 * - `/v1/…`: the part of Stripe's API that Tollgate uses, with the secret key.
 * - `/sample/…`: what customers, banks and time do, with the same key.
 * - `/pay/{session}`, `/portal/{session}`: pages for browsers.
 * - `GET /health`: 200.
 */
export function createApp(config: Pick<Config, 'host' | 'secretKey' | 'webhook' | 'statePath'>): {
  server: Server;
  close: () => Promise<void>;
} {
  const store = createStore(config.statePath);
  const clock = createClock(store.clockOffset);
  const outage = { isOn: false };
  const deliveries = createDeliveries(config.webhook);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      send(res, 500, { error: { type: 'api_error', message: 'The sample server failed.' } });
    });
  });
  const doubleFor = (idempotencyKey: string | null): Double => {
    const { port } = server.address() as AddressInfo;
    return {
      store,
      clock,
      deliveries,
      outage,
      origin: `http://${host}:${String(port)}`,
      request: { id: newId('req', 14), idempotency_key: idempotencyKey },
    };
  };
  // What was under way when the process ended.
  for (const event of store.all('event').reverse()) if (event.pending_webhooks > 0) deliveries.send(event);

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://sample');
    const body = await bodyOf(req);
    if (url.pathname === '/health') send(res, 200, { status: 'ok' });
    else if (/^\/(v1|sample)\//.test(url.pathname)) api(req, res, { url, body });
    else {
      const method = req.method ?? 'GET';
      servePage(doubleFor(null), { method, path: url.pathname, form: parseForm(body) }, res);
      if (method === 'POST') store.save(clock);
    }
  }

  function api(req: IncomingMessage, res: ServerResponse, { url, body }: { url: URL; body: string }): void {
    const method = req.method ?? 'GET';
    const key = req.headers['idempotency-key'];
    const double = doubleFor(typeof key === 'string' ? key : null);
    res.setHeader('request-id', double.request.id ?? '');
    res.setHeader('stripe-version', req.headers['stripe-version'] ?? API_VERSION);
    try {
      authenticate(req.headers.authorization, config.secretKey);
      if (outage.isOn && url.pathname.startsWith('/v1/')) {
        throw new Failure(503, 'api_error', 'The sample server is away.');
      }
      const fingerprint = fingerprintOf(method, url.pathname, body);
      if (method === 'POST' && typeof key === 'string') {
        res.setHeader('idempotency-key', key);
        const known = recall(store.keys, key, fingerprint, clock.now());
        if (known !== undefined) {
          res.setHeader('idempotent-replayed', 'true');
          send(res, known.status, known.body);
          return;
        }
      }
      const [status, text] = run(double, method, url, body);
      if (method !== 'GET') {
        if (typeof key === 'string') store.keys[key] = { fingerprint, status, body: text, at: clock.now() };
        store.save(clock);
      }
      send(res, status, text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      send(res, error.status, error.body);
    }
  }

  return {
    server,
    close: async () => {
      deliveries.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A declined card is an outcome, which Stripe gives again; a request that it can't read isn't. */
function run(double: Double, method: string, url: URL, body: string): [status: number, text: string] {
  const form = method === 'GET' ? parseForm(url.search.slice(1)) : parseForm(body);
  try {
    const { expand: paths, ...input } = form as Form & { expand?: string[] };
    return [
      200,
      JSON.stringify(
        expand(double.store, dispatch(double, method, url.pathname, input), paths ?? []),
        stateFirstLines,
      ),
    ];
  } catch (error) {
    if (error instanceof Failure && error.status === 402) return [402, JSON.stringify(error.body)];
    throw error;
  }
}

function dispatch(double: Double, method: string, path: string, input: object): object {
  for (const { method: wanted, path: pattern, handle } of ROUTES) {
    const match = wanted === method ? pattern.exec(path) : null;
    if (match !== null) return handle({ double, id: match[1] ?? '', input });
  }
  throw new Failure(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${path}).`);
}

/** @throws {Failure} 401 */
function authenticate(header: string | undefined, secretKey: string): void {
  const given = Buffer.from(keyOf(header));
  const expected = Buffer.from(secretKey);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new Failure(401, 'invalid_request_error', 'Invalid API Key provided.');
}

function keyOf(header = ''): string {
  const [scheme = '', value = ''] = header.split(' ');
  if (scheme.toLowerCase() !== 'basic') return value;
  return Buffer.from(value, 'base64').toString().split(':', 1)[0] ?? '';
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('The request is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function send(res: ServerResponse, status: number, body: object | string): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(typeof body === 'string' ? body : JSON.stringify(body));
}
