import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { newClientSecret } from '@tollgate/credentials/client-secret';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../test/suite/auth-under-test.ts';
import { counter, postToken, postClientChange, tokenForm } from '../../test/suite/requests.ts';
import { commitChange } from '../../test/suite/revoke.ts';
import { flush, keysOf } from '../../test/suite/store.ts';

const PER_PAIR = 5;
const PER_ADDRESS = 12;
const WINDOW_SEC = 30;
/** QUEUE of open.ts. */
const LOOK_UPS_AT_ONCE = 4;

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
  await becomeReady(replica);
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

/** Without what differs from request to request. */
async function whole(response: Response) {
  return {
    status: response.status,
    headers: [...response.headers].filter(
      ([name]) => !['date', 'x-request-id', 'retry-after'].includes(name),
    ),
    body: await response.text(),
  };
}

test('over the limit every wrong attempt gets the same answer, whatever is wrong with it', async () => {
  const client = addClient(auth.account);
  const revoked = addClient(auth.account, { status: 'revoked' });
  await statuses(times(PER_ADDRESS, () => attempt({ client_id: randomUUID(), client_secret: 'x' })));
  const answer = await whole(await attempt(wrong(client)));
  expect(answer.status).toBe(429);
  for (const other of [revoked, wrong(revoked), { client_id: randomUUID(), client_secret: 'x' }]) {
    expect(await whole(await attempt(other))).toEqual(answer);
  }
});

test('a right secret is accepted however many failed at its address: of its client, of others, of both', async () => {
  const client = addClient(auth.account);
  const neverUsed = addClient(auth.account);
  await lockOut(client);
  expect((await attempt(wrong(client))).status).toBe(429);
  expect((await attempt(client)).status).toBe(200);
  await statuses(times(PER_ADDRESS + 20, () => attempt({ client_id: randomUUID(), client_secret: 'x' })));
  expect((await attempt(wrong(addClient(auth.account)))).status).toBe(429);
  // Whether the client is remembered, looked up, or unknown to a replica.
  expect((await attempt(client)).status).toBe(200);
  expect((await attempt(neverUsed)).status).toBe(200);
  expect((await postToken(replica, tokenForm(client))).status).toBe(200);
  expect((await attempt(wrong(client))).status).toBe(429);
});

test('a new secret is accepted while a fleet still fails with the old one', async () => {
  const client = addClient(auth.account);
  const rotated = addClient(auth.account);
  await attempt(client);
  await lockOut(client);
  const { revocation_epoch } = commitChange(auth, client, { secrets: rotated.record.secrets });
  await postClientChange(auth.service, client.client_id, { revocation_epoch });
  const answers = await Promise.all(
    times(10, () => [attempt(client), attempt({ ...client, client_secret: rotated.client_secret })]).flat(),
  );
  const both = [429, 200];
  expect(answers.map(({ status }) => status)).toEqual(times(10, () => both).flat());
});

test('a right secret is accepted in the middle of a flood of made-up clients from its address', async () => {
  const client = addClient(auth.account);
  const stranger = () => attempt({ client_id: randomUUID(), client_secret: 'x' });
  await statuses(times(PER_ADDRESS, stranger));
  const flood = times(200, stranger);
  expect((await attempt(client)).status).toBe(200);
  expect(new Set(await statuses(flood))).toEqual(new Set([429]));
});

test('50 wrong secrets at once get the limit’s number of verdicts, not one more', async () => {
  const client = addClient(auth.account);
  const all = await statuses(times(50, () => attempt(wrong(client))));
  expect(all.filter((status) => status === 401)).toHaveLength(PER_PAIR);
  expect(all.filter((status) => status === 429)).toHaveLength(50 - PER_PAIR);
});

test('50 at once over two replicas get no more', async () => {
  const client = addClient(auth.account);
  // Both see the same address: the replica the connection's, the first the forwarded one.
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

test('ever new client ids from one address: once it is limited, account is asked about few at one moment', async () => {
  const known = addClient(auth.account);
  await attempt(known);
  const stranger = () => attempt({ client_id: randomUUID(), client_secret: 'x' });
  const all = await statuses(times(40, stranger));
  expect(all.filter((status) => status === 401)).toHaveLength(PER_ADDRESS);
  const asked = auth.account.requests.length;
  const release = auth.account.hold();
  const ids = times(50, randomUUID);
  const flood = ids.map((client_id) => attempt({ client_id, client_secret: 'x' }));
  await waitFor(() => auth.account.requests.length === asked + LOOK_UPS_AT_ONCE);
  // Reaches Redis after the others and isn't held.
  expect((await attempt(wrong(known))).status).toBe(429);
  const left = async () => {
    const keys = await Promise.all(ids.map((id) => keysOf(auth, `auth:{${applicationPart(id)}}*`)));
    return keys.flat().length;
  };
  expect([auth.account.requests.length, await left()]).toEqual([asked + LOOK_UPS_AT_ONCE, LOOK_UPS_AT_ONCE]);
  release();
  expect(await statuses(flood)).toEqual(times(50, () => 429));
  expect(await left()).toBe(0);
});

test.each([
  ['codes', 'authorization_code', 'code', 'tgc'],
  ['refresh tokens', 'refresh_token', 'refresh_token', 'tgr'],
])(
  'wrong %s: once their sender is limited, account is asked about few at one moment, and about others’ at once',
  async (_what, grant_type, name, prefix) => {
    const { client_id } = addClient(auth.account, { secrets: [], authorization: 'public' });
    const guess = (from = address) => {
      const rest = { redirect_uri: 'https://app.example/', code_verifier: 'v'.repeat(43) };
      const fields = { grant_type, client_id, [name]: newAccessToken(prefix, client_id), ...rest };
      return postToken(auth.service, fields, { 'x-forwarded-for': from });
    };
    expect(await statuses(times(PER_PAIR, () => guess()))).toEqual(times(PER_PAIR, () => 400));
    expect((await guess()).status).toBe(429);
    const asked = auth.account.requests.length;
    const release = auth.account.hold();
    const flood = times(50, () => guess());
    await waitFor(() => auth.account.requests.length === asked + LOOK_UPS_AT_ONCE);
    const other = guess('203.0.113.77');
    await waitFor(() => auth.account.requests.length === asked + LOOK_UPS_AT_ONCE + 1);
    release();
    expect((await other).status).toBe(400);
    expect(await statuses(flood)).toEqual(times(50, () => 429));
  },
);

test('wrong secrets of a client that is remembered and of one that is known to be unknown don’t reach account', async () => {
  const client = addClient(auth.account);
  const unknown = { client_id: randomUUID(), client_secret: 'x' };
  await statuses([attempt(client), attempt(unknown)]);
  const asked = auth.account.requests.length;
  await statuses(times(50, () => [attempt(wrong(client)), attempt(unknown)]).flat());
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
  expect((await attempt(wrong(client), from(99))).status).toBe(429);
});

test('X-Forwarded-For counts from the last hop that isn’t a trusted proxy', async () => {
  const client = addClient(auth.account);
  await lockOut(client);
  expect((await attempt(wrong(client), `203.0.113.9, ${address}`)).status).toBe(429);
  expect((await attempt(wrong(client), `203.0.113.9, ${address}, 10.9.1.1`)).status).toBe(429);
  expect((await attempt(wrong(client), `${address}, 203.0.113.9`)).status).toBe(401);
});

test('without trusted proxies X-Forwarded-For changes nothing', async () => {
  await flush(auth);
  await replica.stop();
  await replica.restart();
  await becomeReady(replica);
  const client = addClient(auth.account);
  const all = [];
  for (let host = 0; host < PER_PAIR + 2; host += 1) {
    const headers = { 'x-forwarded-for': `203.0.113.${String(host)}` };
    all.push((await postToken(replica, tokenForm(wrong(client)), headers)).status);
  }
  expect(all).toEqual([...times(PER_PAIR, () => 401), 429, 429]);
});

test('when the window has passed, wrong secrets are told so again', async () => {
  const client = addClient(auth.account);
  const brief = await startAuth({ ...limits, FAILED_ATTEMPTS_WINDOW_SEC: '3' });
  try {
    brief.account.clients.set(client.client_id, client.record);
    for (let failures = 0; failures < PER_PAIR; failures += 1) {
      await postToken(brief.service, tokenForm(wrong(client)));
    }
    const limited = await postToken(brief.service, tokenForm(wrong(client)));
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).toMatch(/^[123]$/);
    await waitFor(async () => (await postToken(brief.service, tokenForm(wrong(client)))).status === 401);
  } finally {
    await brief.close();
  }
});

test('the counter tells which limit it was', async () => {
  const read = () => counter(auth.service, 'tollgate_requests_limited_total', { limit: 'pair' });
  const before = await read();
  const client = addClient(auth.account);
  await lockOut(client);
  await attempt(wrong(client));
  await attempt(client);
  expect(await read()).toBe(before + 1);
});
