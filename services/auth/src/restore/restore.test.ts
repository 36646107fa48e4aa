import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { applicationPart } from '@tollgate/credentials/access-token';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, addManualToken, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../test/suite/auth-under-test.ts';
import { isActive } from '../../test/suite/requests.ts';

const SETTINGS = { RESTORE_CHECK_INTERVAL_MS: '50', RESTORE_MAX_IN_FLIGHT: '2' };

const LEASE = 'auth:{restore}:lease';

let auth: AuthUnderTest;

beforeEach(async () => {
  auth = await startAuth(SETTINGS);
});

afterEach(() => auth.close());

function addClients(count: number): { part: string; token: string }[] {
  return Array.from({ length: count }, () => {
    const client = addClient(auth.account);
    return { part: applicationPart(client.client_id), token: addManualToken(auth.account, client) };
  });
}

async function ready(service = auth.service): Promise<unknown> {
  const response = await fetch(`${service.privateUrl}/health/ready`);
  return [response.status, ((await response.json()) as { status: string }).status];
}

async function gauge(): Promise<string | undefined> {
  const metrics = await (await fetch(`${auth.service.privateUrl}/metrics`)).text();
  return /^tollgate_restoring\{.*\} (\d)$/m.exec(metrics)?.[1];
}

const becomesReady = () => waitFor(async () => JSON.stringify(await ready()) === '[200,"ready"]');

const inRedis = async (clients: readonly { part: string }[]) =>
  (
    await Promise.all(clients.map(({ part }) => auth.store.hexists(`auth:{${part}}:epoch`, 'listed_under')))
  ).filter((listed) => listed === 1).length;

test('what FLUSHALL took is loaded by itself, and said by readiness, metric and log', async () => {
  await becomesReady();
  const clients = addClients(7);
  expect(await inRedis(clients)).toBe(0);
  const release = auth.account.hold();
  await auth.store.flushall();
  await waitFor(async () => JSON.stringify(await ready()) === '[200,"restoring"]');
  expect(await gauge()).toBe('1');
  release();
  await waitFor(async () => (await inRedis(clients)) === 7);
  await becomesReady();
  expect(await gauge()).toBe('0');
  expect(auth.service.logs()).toContain('restoring manual tokens');
  expect(auth.service.logs()).toMatch(/"clients":7.*"restored manual tokens"/);
  auth.account.mood = 'away';
  for (const { token } of clients) expect(await isActive(auth.service, token)).toBe(true);
});

test('also after a Redis that was started again, and by an auth that starts on an empty one', async () => {
  await becomesReady();
  const clients = addClients(3);
  await auth.service.stop();
  await auth.store.flushall();
  await auth.service.restart();
  await waitFor(async () => (await inRedis(clients)) === 3);
  await becomesReady();
  await auth.redis.kill();
  await auth.restartRedis();
  await waitFor(() => (auth.service.logs().match(/"restored manual tokens"/g) ?? []).length >= 3);
});

test('account away: it goes on trying, and every token is answered by look-ups as soon as account is back', async () => {
  await becomesReady();
  const clients = addClients(5);
  auth.account.mood = 'away';
  await auth.store.flushall();
  await waitFor(() => auth.service.logs().includes('restoring manual tokens failed'));
  expect(await ready()).toEqual([200, 'restoring']);
  auth.account.mood = 'well';
  expect(await isActive(auth.service, clients[4]?.token ?? '')).toBe(true);
  await waitFor(async () => (await inRedis(clients)) === 5);
  await becomesReady();
});

test('FLUSHALL in the middle begins anew, and nothing is taken for done', async () => {
  await becomesReady();
  const clients = addClients(6);
  const release = auth.account.hold();
  await auth.store.flushall();
  await waitFor(() => auth.service.logs().split('"restoring manual tokens"').length >= 3);
  await auth.store.flushall();
  release();
  await waitFor(async () => (await inRedis(clients)) === 6);
  await becomesReady();
  expect(await auth.store.exists('auth:{restore}:done')).toBe(1);
});

test('an auth that is killed while it loads is followed by another one', async () => {
  await becomesReady();
  const clients = addClients(4);
  const other = await startServiceProcess('auth', {
    REDIS_URL: auth.redis.url,
    ACCOUNT_PRIVATE_URL: auth.account.url,
    ...SETTINGS,
  });
  try {
    const release = auth.account.hold();
    await auth.store.flushall();
    const lines = () => [auth.service, other].map((service) => service.logs());
    const began = () =>
      lines().findIndex(
        (log) => log.split('"restoring manual tokens"').length > (log === lines()[0] ? 2 : 1),
      );
    await waitFor(() => began() >= 0);
    const loading = began() === 0 ? auth.service : other;
    await loading.kill();
    release();
    expect(await auth.store.pttl(LEASE)).toBeGreaterThan(0);
    await auth.store.pexpire(LEASE, 1);
    await waitFor(async () => (await inRedis(clients)) === 4);
    await loading.restart();
  } finally {
    await other.stop();
  }
});
