import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import type { ClientAnswer, RevokedTokens } from '@tollgate/contracts/client-record';
import type { ClientPage } from '@tollgate/contracts/manual-tokens';
import { createLogger } from '@tollgate/log';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import {
  becomeReady,
  clientSecretPeppers,
  serviceCredential,
  startServiceProcess,
} from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { answerOk } from './suite/gateway.ts';
import { call } from './suite/http-client.ts';
import { activeEntitlement, emptySnapshot } from './suite/stand-ins.ts';
import { openReady } from './suite/raw-socket.ts';
import { startServer } from './suite/upstreams/server.ts';
import type { TestServer } from './suite/upstreams/server.ts';

/**
 * Caches would forget a token after 30 s. How soon they are told is measured by `npm run bench -- revocation`: a suite
 * shares its machine with others.
 */
const LONG_BEFORE_EXPIRY_MS = 10_000;

/** Two gateways and a real auth over one Redis, with stand-ins for account and the upstream. */
let redis: OwnRedis;
let store: RedisConnection;
let account: TestServer;
let upstream: TestServer;
let auth: ServiceProcess;
let gateways: ServiceProcess[];
const clients = new Map<string, ClientAnswer>();
const noneRevoked: RevokedTokens = { token_hashes: [], next_after: null };

beforeAll(async () => {
  redis = await startRedis();
  store = openRedis(redis.url, createLogger('suite', 'silent'));
  upstream = await startServer(answerOk);
  account = await startServer((req, res) => {
    const [, , kind, id = '', part = ''] = (req.url ?? '').split('/');
    // Tokens that clients revoke: this stand-in forgets them, which no test here notices.
    if (part.startsWith('revoked-tokens')) {
      res.writeHead(req.method === 'POST' ? 204 : 200, { 'content-type': 'application/json' });
      res.end(req.method === 'POST' ? undefined : JSON.stringify(noneRevoked));
      return;
    }
    const bodies = {
      clients: () => clients.get(id),
      entitlements: () => activeEntitlement(Number(id)),
      'usage-snapshots': () => emptySnapshot(Number(id)),
      // At its start, auth asks for clients with manual tokens; there are none.
      'manual-tokens': (): ClientPage => ({ client_ids: [], next_after: null }),
    };
    const body = kind !== undefined && kind in bodies ? bodies[kind as keyof typeof bodies]() : undefined;
    res.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(body ?? {}));
  });
  auth = await startServiceProcess('auth', { REDIS_URL: redis.url, ACCOUNT_PRIVATE_URL: account.url });
  const settings = {
    REDIS_URL: redis.url,
    AUTH_PRIVATE_URL: auth.privateUrl,
    AUTH_PUBLIC_URL: auth.publicUrl,
    ACCOUNT_PRIVATE_URL: account.url,
    ACCOUNT_PUBLIC_URL: account.url,
    UPSTREAM_URL: `${upstream.url}/graphql`,
    // No cache entry expires within this suite.
    INTROSPECTION_CACHE_TTL_MS: '30000',
  };
  gateways = await Promise.all([1, 2].map(() => startServiceProcess('gateway', settings)));
  await ready();
});

afterAll(async () => {
  await Promise.all([...gateways, auth].map((service) => service.stop()));
  store.disconnect();
  await Promise.all([redis.stop(), account.close(), upstream.close()]);
});

async function ready(): Promise<void> {
  await waitFor(() => store.status === 'ready');
  for (const service of [...gateways, auth]) await becomeReady(service);
}

/** A new application's credentials and token. */
async function newClient() {
  const [client_id, client_secret] = [randomUUID(), newClientSecret()];
  clients.set(client_id, {
    client_id,
    application_id: randomInt(1, 1_000_000),
    account_id: randomInt(1, 1_000_000),
    status: 'active',
    token_lifespan_sec: 3_600,
    manual_tokens: [],
    revocation_epoch: 0,
    secrets: [{ ...hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers)), expires_at: null }],
  });
  return { client_id, client_secret, token: await tokenOf({ client_id, client_secret }) };
}

async function tokenOf(credentials: { client_id: string; client_secret: string }): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: 'api', ...credentials };
  const answer = await post('/oauth2/token', form);
  return ((await answer.json()) as { access_token: string }).access_token;
}

function post(path: string, form: Record<string, string>): Promise<Response> {
  return fetch(auth.publicUrl + path, { method: 'POST', body: new URLSearchParams(form) });
}

async function query({ publicUrl }: ServiceProcess, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await call(`${publicUrl}/graphql`, { headers, body: '{"query":"{ __typename }"}' })).status;
}

/** account commits a revocation and delivers it. */
async function revokeClient(client_id: string): Promise<void> {
  commitRevocation(client_id);
  await deliverChange(client_id);
}

/** Notifies auth of a change. */
async function deliverChange(client_id: string): Promise<void> {
  const revocation_epoch = clients.get(client_id)?.revocation_epoch;
  const response = await fetch(`${auth.privateUrl}/private/client-changes`, {
    method: 'POST',
    headers: { authorization: basicAuthorization(serviceCredential), 'content-type': 'application/json' },
    body: JSON.stringify({ change: 'application', client_id, revocation_epoch, source: 'account' }),
  });
  if (response.status !== 204) throw new Error(`the delivery was answered with ${String(response.status)}`);
}

function commitRevocation(client_id: string): void {
  const record = clients.get(client_id);
  if (record === undefined) throw new Error('account has no such client');
  clients.set(client_id, { ...record, revocation_epoch: record.revocation_epoch + 1 });
}

/** Introspections that have reached auth. */
async function introspections(): Promise<number> {
  const metrics = await (await fetch(`${auth.privateUrl}/metrics`)).text();
  const lines = metrics.split('\n').filter((line) => line.startsWith('tollgate_introspections_total{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Calls both gateways until they have cached the token. */
async function cacheEverywhere(token: string): Promise<void> {
  for (const gateway of gateways) {
    await waitFor(async () => {
      const before = await introspections();
      return (await query(gateway, token)) === 200 && (await introspections()) === before;
    });
  }
}

/** Milliseconds from the start of a revocation to the first refusal, for each gateway; no call passes after it. */
async function refusedAfterMs(token: string, revoke: () => Promise<unknown>): Promise<number[]> {
  const startMs = performance.now();
  const refused = gateways.map(async (gateway) => {
    await waitFor(async () => (await query(gateway, token)) === 401, { intervalMs: 1 });
    return performance.now() - startMs;
  });
  await revoke();
  const times = await Promise.all(refused);
  for (const gateway of gateways) expect(await query(gateway, token)).toBe(401);
  return times;
}

function report(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other).map(Math.round);
  const median = String(sorted[Math.floor(sorted.length / 2)]);
  process.stdout.write(
    `${what}: refused after ${median} ms (median), ${String(sorted.at(-1))} ms (slowest)\n`,
  );
}

test('a revoked application’s cached token is refused by two gateways long before their caches forget it, 20 times', async () => {
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const { client_id, token } = await newClient();
    await cacheEverywhere(token);
    times.push(...(await refusedAfterMs(token, () => revokeClient(client_id))));
  }
  report('application revoked', times);
  expect(Math.max(...times)).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
});

test('a token that its client gives back is refused by two gateways long before their caches forget it, 20 times', async () => {
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const { token, ...credentials } = await newClient();
    await cacheEverywhere(token);
    times.push(...(await refusedAfterMs(token, () => post('/oauth2/revoke', { token, ...credentials }))));
  }
  report('token revoked', times);
  expect(Math.max(...times)).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
});

test('revoked while the gateways’ subscriptions are cut: refused long before their caches forget it', async () => {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { client_id, token } = await newClient();
    await cacheEverywhere(token);
    const cutAndRevoke = async () => {
      await store.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await revokeClient(client_id);
    };
    times.push(...(await refusedAfterMs(token, cutAndRevoke)));
  }
  report('subscription cut', times);
  expect(Math.max(...times)).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
});

test('without Redis the cache isn’t used: no call passes on an introspection that may be out of date', async () => {
  const { client_id, token } = await newClient();
  await cacheEverywhere(token);
  await redis.kill();
  commitRevocation(client_id);
  for (const gateway of gateways) {
    await waitFor(async () => (await query(gateway, token)) === 503);
    expect(await query(gateway, token)).toBe(503);
  }
  await redis.restart();
  await ready();
  // The revocation was never delivered; auth reads it from account, because this Redis restarted empty.
  for (const gateway of gateways) {
    await waitFor(async () => (await query(gateway, token)) !== 503);
    expect(await query(gateway, token)).toBe(401);
  }
});

test('500 WebSockets of a revoked application are closed by two gateways', async () => {
  const { client_id, token } = await newClient();
  const sockets = await Promise.all(
    Array.from({ length: 500 }, (_, index) => {
      const url = (gateways[index % 2] as ServiceProcess).publicUrl.replace('http', 'ws');
      return openReady(`${url}/graphql`, token);
    }),
  );
  const startMs = performance.now();
  const closes = Promise.all(sockets.map(({ closed }) => closed));
  await revokeClient(client_id);
  const ended = await closes;
  expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([4401]));
  const times = ended.map(({ atMs }) => atMs - startMs);
  report('application revoked, WebSockets', times);
  expect(Math.max(...times)).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
});

test('a token that its client gives back loses its WebSockets, other tokens of the client keep theirs', async () => {
  const { token, client_id, client_secret } = await newClient();
  const other = await tokenOf({ client_id, client_secret });
  const urls = gateways.map(({ publicUrl }) => `${publicUrl.replace('http', 'ws')}/graphql`);
  const open = (one: string) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => openReady(urls[index % 2] ?? '', one)));
  const [lost, kept] = await Promise.all([open(token), open(other)]);
  const startMs = performance.now();
  await post('/oauth2/revoke', { token, client_id, client_secret });
  const ended = await Promise.all(lost.map(({ closed }) => closed));
  expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([4401]));
  const times = ended.map(({ atMs }) => atMs - startMs);
  report('token revoked, WebSockets', times);
  expect(Math.max(...times)).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
  for (const raw of kept) {
    raw.send({ type: 'ping' });
    await raw.message({ type: 'pong' });
    raw.socket.close();
  }
});

test('while the gateways’ subscriptions are cut, WebSockets of a revoked application are closed, the others stay', async () => {
  const [gone, good] = [await newClient(), await newClient()];
  const urls = gateways.map(({ publicUrl }) => `${publicUrl.replace('http', 'ws')}/graphql`);
  const open = (token: string) => Promise.all(urls.map((url) => openReady(url, token)));
  const [lost, kept] = await Promise.all([open(gone.token), open(good.token)]);
  const startMs = performance.now();
  await store.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await revokeClient(gone.client_id);
  const ended = await Promise.all(lost.map(({ closed }) => closed));
  expect(ended.map(({ code }) => code)).toEqual([4401, 4401]);
  expect(Math.max(...ended.map(({ atMs }) => atMs - startMs))).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
  for (const raw of kept) {
    raw.send({ type: 'ping' });
    await raw.message({ type: 'pong' });
    raw.socket.close();
  }
});

test('an application that is renamed: auth isn’t asked about its WebSockets, and its revocation closes them', async () => {
  const { client_id, client_secret } = await newClient();
  const urls = gateways.map(({ publicUrl }) => `${publicUrl.replace('http', 'ws')}/graphql`);
  const other = await newClient();
  const witnesses = await Promise.all(urls.map((url) => openReady(url, other.token)));
  const openAnother = async (_: unknown, index: number) =>
    openReady(urls[index % 2] ?? '', await tokenOf({ client_id, client_secret }));
  const sockets = await Promise.all(Array.from({ length: 100 }, openAnother));
  const before = await introspections();
  for (let rename = 0; rename < 10; rename += 1) await deliverChange(client_id);
  // Redis delivers in order: a gateway that closes this socket has received the renames.
  commitRevocation(other.client_id);
  await deliverChange(other.client_id);
  await Promise.all(witnesses.map(({ closed }) => closed));
  expect(await introspections()).toBe(before);
  expect(sockets.filter(({ socket }) => socket.readyState !== socket.OPEN)).toEqual([]);

  commitRevocation(client_id);
  const startMs = performance.now();
  await deliverChange(client_id);
  const ended = await Promise.all(sockets.map(({ closed }) => closed));
  expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([4401]));
  const times = ended.map(({ atMs }) => atMs - startMs);
  report('renamed, then revoked, WebSockets', times);
  expect(Math.max(...times)).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
});
