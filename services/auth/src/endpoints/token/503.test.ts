import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, becomeRestored, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import { obtainToken, postIntrospection, postToken, tokenForm } from '../../../test/suite/requests.ts';
import { configure, onMasters } from '../../../test/suite/store.ts';

let auth: AuthUnderTest;

beforeEach(async () => {
  auth = await startAuth({ PRIVATE_API_TIMEOUT_MS: '1000' });
});

afterEach(() => auth.close());

async function expectUnavailable(response: Response): Promise<void> {
  expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
    503,
    '1',
    { error: 'temporarily_unavailable', error_description: 'Temporarily unavailable.' },
  ]);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

const READY = [200, { status: 'ready', checks: { redis: 'ok' } }];

async function readiness() {
  const response = await fetch(`${auth.service.privateUrl}/health/ready`);
  const body: unknown = await response.json();
  return [response.status, body];
}

test('account failing, away or silent: temporarily_unavailable, and service again when it is back', async () => {
  const client = addClient(auth.account);
  for (const mood of ['failing', 'away'] as const) {
    auth.account.mood = mood;
    await expectUnavailable(await postToken(auth.service, tokenForm(client)));
  }
  auth.account.mood = 'well';
  const release = auth.account.hold();
  await expectUnavailable(await postToken(auth.service, tokenForm(client)));
  release();
  await obtainToken(auth.service, client);
});

test('account away: a client in the cache still gets its token, and auth stays ready', async () => {
  const client = addClient(auth.account);
  await obtainToken(auth.service, client);
  auth.account.mood = 'away';
  await obtainToken(auth.service, client);
  expect(await readiness()).toEqual(READY);
});

test('account answering with another client’s record is not believed', async () => {
  const client = addClient(auth.account);
  auth.account.clients.set(client.client_id, addClient(auth.account).record);
  await expectUnavailable(await postToken(auth.service, tokenForm(client)));
});

test('Redis away and back: 503, said by readiness, then 200 by itself', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  await auth.redis.kill();

  await expectUnavailable(await postToken(auth.service, tokenForm(client)));
  const introspection = await postIntrospection(auth.service, { token });
  expect([introspection.status, introspection.headers.get('retry-after')]).toEqual([503, '1']);
  expect(introspection.headers.get('content-type')).toBe('application/problem+json');
  expect(await introspection.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
  expect(await readiness()).toEqual([503, { status: 'unavailable', checks: { redis: 'unreachable' } }]);
  expect((await fetch(`${auth.service.privateUrl}/health/live`)).status).toBe(200);

  await auth.restartRedis();
  await waitFor(async () => (await postToken(auth.service, tokenForm(client))).status === 200);
  // A killed Redis lacks its last writes, so an earlier token may be lost.
  const later = await postIntrospection(auth.service, { token: await obtainToken(auth.service, client) });
  expect(await later.json()).toMatchObject({ active: true });
  expect(await readiness()).toEqual(READY);
  expect(auth.service.logs()).toMatch(/Redis is unavailable.*Redis is available again/s);
});

test('Redis refusing writes: temporarily_unavailable, and no client record in the log', async () => {
  const client = addClient(auth.account);
  await configure(auth, 'maxmemory', '1');
  await expectUnavailable(await postToken(auth.service, tokenForm(client)));
  expect(auth.service.logs()).toContain('Redis: OOM');
  expect(auth.service.logs()).not.toContain(client.record.secrets[0]?.hmac);
  await configure(auth, 'maxmemory', '0');
  await obtainToken(auth.service, client);
});

test('a Redis that is silent is as good as away', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  await onMasters(auth, (master) => master.client('PAUSE', 5_000, 'ALL'));
  const [issue, introspection] = await Promise.all([
    postToken(auth.service, tokenForm(client)),
    postIntrospection(auth.service, { token }),
  ]);
  await expectUnavailable(issue);
  expect(introspection.status).toBe(503);
  await waitFor(async () => (await postToken(auth.service, tokenForm(client))).status === 200);
});

test('auth starts without Redis, and serves when it comes', async () => {
  await auth.service.stop();
  await auth.redis.kill();
  await auth.service.restart();
  await expectUnavailable(await postToken(auth.service, tokenForm(addClient(auth.account))));
  await auth.restartRedis();
  const client = addClient(auth.account);
  await waitFor(async () => (await postToken(auth.service, tokenForm(client))).status === 200);
  // Its first look for lost tokens failed; the next one doesn't wait for RESTORE_CHECK_INTERVAL_MS.
  await becomeRestored(auth.service);
  expect(await readiness()).toEqual(READY);
});
