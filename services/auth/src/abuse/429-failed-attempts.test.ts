import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { applicationPart } from '@tollgate/access-token';
import { newClientSecret } from '@tollgate/client-secret';
import { waitFor } from '@tollgate/stack/wait-for';
import { startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../suite/auth-under-test.ts';
import { counter, postToken, tokenForm } from '../suite/requests.ts';
import { flush, keysOf, onMasters } from '../suite/store.ts';

const PER_PAIR = 5;
const PER_ADDRESS = 12;
const WINDOW_SEC = 30;

const limits = {
  FAILED_ATTEMPTS_WINDOW_SEC: String(WINDOW_SEC),
  FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: String(PER_PAIR),
  FAILED_ATTEMPTS_PER_ADDRESS: String(PER_ADDRESS),
};

let auth: AuthUnderTest;
/** A second replica, which trusts no proxy. */
let replica: ServiceProcess;
let addresses = 0;
let address: string;

beforeAll(async () => {
  auth = await startAuth({ ...limits, TRUSTED_PROXIES: '127.0.0.0/8 ::1/128 10.9.0.0/16' });
  replica = await startServiceProcess('auth', {
    ...limits,
    REDIS_URL: auth.redis.url,
    ACCOUNT_PRIVATE_URL: auth.account.url,
  });
  await waitFor(async () => (await fetch(`${replica.privateUrl}/health/ready`)).ok);
});

beforeEach(() => {
  addresses += 1;
  address = `198.51.100.${String(addresses)}`;
});

afterAll(async () => {
  await replica.stop();
  await auth.close();
});

function attempt(client: Pick<TestClient, 'client_id' | 'client_secret'>, from = address) {
  return postToken(auth.service, tokenForm(client), { 'x-forwarded-for': from });
}

async function statuses(answers: Promise<Response>[]): Promise<number[]> {
  return (await Promise.all(answers)).map(({ status }) => status);
}

function wrong({ client_id }: Pick<TestClient, 'client_id'>) {
  return { client_id, client_secret: newClientSecret() };
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

async function lockOut(client: TestClient, from = address): Promise<void> {
  expect(await statuses(times(PER_PAIR, () => attempt(wrong(client), from)))).toEqual(
    times(PER_PAIR, () => 401),
  );
}

test('after the limit: 429 as the token endpoint’s error, with Retry-After within the window', async () => {
  const client = addClient(auth.account);
  await lockOut(client);
  const answer = await attempt(wrong(client));
  expect(answer.status).toBe(429);
  expect(await answer.text()).toBe(
    '{"error":"temporarily_unavailable","error_description":"Too many requests. Try again later."}',
  );
  const retryAfter = Number(answer.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(0);
  expect(retryAfter).toBeLessThanOrEqual(WINDOW_SEC);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.has('www-authenticate')).toBe(false);
});

test('a right secret is not told from a wrong one while its client and address are limited', async () => {
  const client = addClient(auth.account);
  await lockOut(client);
  const whole = async (response: Response) => ({
    status: response.status,
    headers: [...response.headers].filter(
      ([name]) => !['date', 'x-request-id', 'retry-after'].includes(name),
    ),
    body: await response.text(),
  });
  const right = await whole(await attempt(client));
  expect(right.status).toBe(429);
  expect(right).toEqual(await whole(await attempt(wrong(client))));
});

test('a right secret that is told nothing leaves no token behind', async () => {
  const client = addClient(auth.account);
  const tokens = () => keysOf(auth, `auth:{${applicationPart(client.client_id)}}:token:*`);
  expect((await postToken(replica, tokenForm(client))).status).toBe(200);
  const before = await tokens();
  // The replica sees the connection's own address, and doesn't know of the limit yet: it stores while it asks.
  await lockOut(client, '127.0.0.1');
  await onMasters(auth, (master) => master.config('RESETSTAT'));
  const answer = await postToken(replica, tokenForm(client));
  expect([answer.status, await answer.text()]).toEqual([429, expect.not.stringContaining('access_token')]);
  await waitFor(async () => {
    const stats = await onMasters(auth, (master) => master.info('commandstats'));
    return stats.some((ofOne) => ofOne.includes('cmdstat_del:'));
  });
  expect(await tokens()).toEqual(before);
});

test('the right secret passes from every other address, however often a stranger fails', async () => {
  const client = addClient(auth.account);
  await lockOut(client);
  await statuses(times(30, () => attempt(wrong(client))));
  for (const other of ['203.0.113.1', '2001:db8::7']) {
    expect((await attempt(client, other)).status).toBe(200);
  }
});

test('another client at the same address still gets its tokens', async () => {
  await lockOut(addClient(auth.account));
  expect((await attempt(addClient(auth.account))).status).toBe(200);
});

test('50 wrong secrets at once get the limit’s number of verdicts, not one more', async () => {
  const client = addClient(auth.account);
  const all = await statuses(times(50, () => attempt(wrong(client))));
  expect(all.filter((status) => status === 401)).toHaveLength(PER_PAIR);
  expect(all.filter((status) => status === 429)).toHaveLength(50 - PER_PAIR);
});

test('50 at once over two replicas get no more', async () => {
  const client = addClient(auth.account);
  // The replica sees the connection's own address; the first is told of the same one.
  const all = await statuses(
    times(25, () => [
      attempt(wrong(client), '127.0.0.1'),
      postToken(replica, tokenForm(wrong(client)), { 'x-forwarded-for': address }),
    ]).flat(),
  );
  expect(all.filter((status) => status === 401)).toHaveLength(PER_PAIR);
  expect(all.filter((status) => status === 429)).toHaveLength(50 - PER_PAIR);
});

test('50 right requests at once are all granted, before and after a few failures', async () => {
  const client = addClient(auth.account);
  expect(await statuses(times(50, () => attempt(client)))).toEqual(times(50, () => 200));
  await statuses(times(PER_PAIR - 1, () => attempt(wrong(client))));
  expect(await statuses(times(50, () => attempt(client)))).toEqual(times(50, () => 200));
});

test('an unknown client and a revoked application are limited like a wrong secret', async () => {
  const unknown = { client_id: randomUUID(), client_secret: newClientSecret() };
  const revoked = addClient(auth.account, { status: 'revoked' });
  const impossible = { client_id: 'no-uuid', client_secret: 'x' };
  for (const [index, client] of [unknown, revoked, impossible].entries()) {
    const from = `192.0.2.${String(index)}`;
    const all = await statuses(times(PER_PAIR + 3, () => attempt(client, from)));
    expect(all.filter((status) => status === 401)).toHaveLength(PER_PAIR);
  }
});

test('ever new client ids from one address: the address is limited, and then account isn’t asked', async () => {
  const stranger = () => attempt({ client_id: randomUUID(), client_secret: 'x' });
  const all = await statuses(times(40, stranger));
  expect(all.filter((status) => status === 401)).toHaveLength(PER_ADDRESS);
  const asked = auth.account.requests.length;
  expect(await statuses(times(20, stranger))).toEqual(times(20, () => 429));
  expect(auth.account.requests).toHaveLength(asked);
});

test('an address’s failures are one key, which ends with the window', async () => {
  await flush(auth);
  await statuses(times(40, () => attempt({ client_id: randomUUID(), client_secret: 'x' })));
  const keys = await keysOf(auth, 'auth:{address:*');
  expect(keys).toHaveLength(1);
  const [key = ''] = keys;
  expect(key).toMatch(/^auth:\{address:[\w-]{22}\}:failed$/);
  expect(await auth.store.hlen(key)).toBe(PER_ADDRESS + 1);
  const ttlMs = await auth.store.pttl(key);
  expect(ttlMs).toBeGreaterThan(0);
  expect(ttlMs).toBeLessThanOrEqual(WINDOW_SEC * 1_000);
});

test('addresses of one IPv6 network share their limit', async () => {
  const client = addClient(auth.account);
  const from = (host: number) => `2001:db8:7:${String(addresses)}::${String(host)}`;
  for (let host = 1; host <= PER_PAIR; host += 1) await attempt(wrong(client), from(host));
  expect((await attempt(client, from(99))).status).toBe(429);
});

test('X-Forwarded-For counts from the last hop that isn’t a trusted proxy', async () => {
  const client = addClient(auth.account);
  await lockOut(client);
  expect((await attempt(client, `203.0.113.9, ${address}`)).status).toBe(429);
  expect((await attempt(client, `203.0.113.9, ${address}, 10.9.1.1`)).status).toBe(429);
  expect((await attempt(client, `${address}, 203.0.113.9`)).status).toBe(200);
});

test('without trusted proxies X-Forwarded-For changes nothing', async () => {
  await flush(auth);
  await replica.stop();
  await replica.restart();
  await waitFor(async () => (await fetch(`${replica.privateUrl}/health/ready`)).ok);
  const client = addClient(auth.account);
  const all = [];
  for (let host = 0; host < PER_PAIR + 2; host += 1) {
    const headers = { 'x-forwarded-for': `203.0.113.${String(host)}` };
    all.push((await postToken(replica, tokenForm(wrong(client)), headers)).status);
  }
  expect(all).toEqual([...times(PER_PAIR, () => 401), 429, 429]);
});

test('when the window has passed, the right secret is good again', async () => {
  const client = addClient(auth.account);
  const brief = await startAuth({ ...limits, FAILED_ATTEMPTS_WINDOW_SEC: '3' });
  try {
    brief.account.clients.set(client.client_id, client.record);
    for (let failures = 0; failures < PER_PAIR; failures += 1) {
      await postToken(brief.service, tokenForm(wrong(client)));
    }
    const limited = await postToken(brief.service, tokenForm(client));
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).toMatch(/^[123]$/);
    await waitFor(async () => (await postToken(brief.service, tokenForm(client))).status === 200);
  } finally {
    await brief.close();
  }
});

test('the counter tells which limit it was', async () => {
  const read = () => counter(auth.service, 'tollgate_requests_limited_total', { limit: 'pair' });
  const before = await read();
  const client = addClient(auth.account);
  await lockOut(client);
  await attempt(client);
  expect(await read()).toBe(before + 1);
});
