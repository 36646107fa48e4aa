import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { createLogger } from '@tollgate/log';
import { basicAuthorization } from '@tollgate/private-api/credential';
import { openRedis } from '@tollgate/redis';
import type { Redis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import {
  clientSecretPeppers,
  serviceCredential,
  startServiceProcess,
} from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { answerOk } from './suite/gateway.ts';
import { call } from './suite/http-client.ts';
import { activeEntitlement } from './suite/peers.ts';
import { startServer } from './suite/server.ts';
import type { TestServer } from './suite/server.ts';

/** Two gateways and a real auth over one Redis. account and the upstream are played by HTTP servers. */
let redis: OwnRedis;
let store: Redis;
let account: TestServer;
let upstream: TestServer;
let auth: ServiceProcess;
let gateways: ServiceProcess[];
const clients = new Map<string, ClientRecord>();

beforeAll(async () => {
  redis = await startRedis();
  store = openRedis(redis.url, createLogger('suite', 'silent'));
  upstream = await startServer(answerOk);
  account = await startServer((req, res) => {
    const [, , kind, id = ''] = (req.url ?? '').split('/');
    const body = kind === 'clients' ? clients.get(id) : activeEntitlement(Number(id));
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
    // Nothing in this suite ends because a cache entry expires.
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
  for (const { privateUrl } of [...gateways, auth]) {
    await waitFor(async () => (await fetch(`${privateUrl}/health/ready`)).ok);
  }
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
    revocation_epoch: 0,
    secrets: [{ ...hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers)), expires_at: null }],
  });
  const form = { grant_type: 'client_credentials', scope: 'api', client_id, client_secret };
  const answer = await post('/oauth2/token', form);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return { client_id, client_secret, token };
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
  const revocation_epoch = clients.get(client_id)?.revocation_epoch;
  const response = await fetch(`${auth.privateUrl}/private/clients/${client_id}/revocation-epoch`, {
    method: 'PUT',
    headers: { authorization: basicAuthorization(serviceCredential), 'content-type': 'application/json' },
    body: JSON.stringify({ revocation_epoch }),
  });
  if (response.status !== 204) throw new Error(`the delivery was answered with ${String(response.status)}`);
}

function commitRevocation(client_id: string): void {
  const record = clients.get(client_id);
  if (record === undefined) throw new Error('account has no such client');
  clients.set(client_id, { ...record, revocation_epoch: record.revocation_epoch + 1 });
}

/** How many introspections have reached auth. */
async function introspections(): Promise<number> {
  const metrics = await (await fetch(`${auth.privateUrl}/metrics`)).text();
  const lines = metrics.split('\n').filter((line) => line.startsWith('tollgate_introspections_total{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Calls both gateways until they have the token in their caches. */
async function cacheEverywhere(token: string): Promise<void> {
  for (const gateway of gateways) {
    await waitFor(async () => {
      const before = await introspections();
      expect(await query(gateway, token)).toBe(200);
      return (await introspections()) === before;
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

test('a revoked application’s cached token is refused by two gateways within a second, 20 times', async () => {
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const { client_id, token } = await newClient();
    await cacheEverywhere(token);
    times.push(...(await refusedAfterMs(token, () => revokeClient(client_id))));
  }
  report('application revoked', times);
  expect(Math.max(...times)).toBeLessThan(1_000);
});

test('a token that its client gives back is refused by two gateways within a second, 20 times', async () => {
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const { token, ...credentials } = await newClient();
    await cacheEverywhere(token);
    times.push(...(await refusedAfterMs(token, () => post('/oauth2/revoke', { token, ...credentials }))));
  }
  report('token revoked', times);
  expect(Math.max(...times)).toBeLessThan(1_000);
});

test('revoked while the gateways’ subscriptions are cut: refused within a second', async () => {
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
  expect(Math.max(...times)).toBeLessThan(1_000);
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
  // The revocation was never delivered; auth finds it in account, because this Redis was started anew.
  for (const gateway of gateways) {
    await waitFor(async () => (await query(gateway, token)) !== 503);
    expect(await query(gateway, token)).toBe(401);
  }
});
