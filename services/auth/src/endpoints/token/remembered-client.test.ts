import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { applicationPart } from '@tollgate/credentials/access-token';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { connectRaw } from '@tollgate/plain-http/raw-client';
import { becomeReady, clientSecretPeppers } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../../test/suite/auth-under-test.ts';
import {
  isActive,
  obtainToken,
  postToken,
  postClientChange,
  tokenForm,
} from '../../../test/suite/requests.ts';
import { commitChange } from '../../../test/suite/revoke.ts';
import { flush, keysOf, onMasters } from '../../../test/suite/store.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth({
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '1000',
    FAILED_ATTEMPTS_PER_ADDRESS: '1000',
  });
});

beforeEach(() => {
  auth.account.mood = 'well';
});

afterAll(() => auth.close());

/** A delivery changes only Redis, so this auth still remembers the record. */
async function rememberedClient(): Promise<TestClient> {
  const client = addClient(auth.account);
  for (let times = 0; times < 2; times += 1) await obtainToken(auth.service, client);
  return client;
}

function tokensOf({ client_id }: TestClient): Promise<string[]> {
  return keysOf(auth, `auth:{${applicationPart(client_id)}}:token:*`);
}

async function deliver({ client_id }: TestClient, revocation_epoch: number): Promise<void> {
  expect((await postClientChange(auth.service, client_id, { revocation_epoch })).status).toBe(204);
}

/** A script counts as one. */
async function askedOfRedis(ask: () => Promise<unknown>): Promise<{ scripts: number; withinThem: string[] }> {
  await onMasters(auth, (master) => master.config('RESETSTAT'));
  await ask();
  const stats = (await onMasters(auth, (master) => master.info('commandstats'))).join('\n');
  const calls = [...stats.matchAll(/cmdstat_(\w+):calls=(\d+)/g)].map(([, name, count]) => [name, count]);
  const { evalsha = '0', ...others } = Object.fromEntries(calls) as Record<string, string>;
  return { scripts: Number(evalsha), withinThem: Object.keys(others).sort() };
}

test('a token of a remembered client costs one script and one read', async () => {
  const client = await rememberedClient();
  const { scripts, withinThem } = await askedOfRedis(() => obtainToken(auth.service, client));
  expect(scripts).toBe(1);
  expect(withinThem).toEqual(expect.arrayContaining(['get', 'hmget', 'set']));
});

/** On open connections, in one turn of the event loop. */
async function postTogether(client: TestClient, count: number): Promise<number[]> {
  const body = new URLSearchParams(tokenForm(client)).toString();
  const request = [
    'POST /oauth2/token HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${String(body.length)}`,
    'Connection: close',
    `\r\n${body}`,
  ].join('\r\n');
  const callers = Array.from({ length: count }, () => connectRaw(auth.service.publicUrl));
  await Promise.all(callers.map(({ socket }) => once(socket, 'connect')));
  for (const { socket } of callers) socket.write(request);
  await Promise.all(callers.map(({ closed }) => closed));
  return callers.map(({ received }) => Number(/^HTTP\/1\.1 (\d{3})/.exec(received())?.[1]));
}

test('tokens of one client that are asked for together are all issued', async () => {
  const client = await rememberedClient();
  const before = (await tokensOf(client)).length;
  expect(await postTogether(client, 20)).toEqual(Array(20).fill(200));
  expect(await tokensOf(client)).toHaveLength(before + 20);
});

test('of requests for one client that arrive together, only those with the right secret get a token', async () => {
  const client = await rememberedClient();
  const wrong = { ...client, client_secret: newClientSecret() };
  const asked = Array.from({ length: 24 }, (_, index) => (index % 3 === 1 ? wrong : client));
  const answers = await Promise.all(asked.map((one) => postToken(auth.service, tokenForm(one))));
  expect(answers.map(({ status }) => status)).toEqual(asked.map((one) => (one === wrong ? 401 : 200)));
});

test('tokens asked for together once the client has changed: all are looked up again, and none is stored', async () => {
  const client = await rememberedClient();
  commitChange(auth, client, { status: 'revoked', revocation_epoch: 1, secrets: [] });
  await deliver(client, 1);
  expect(await postTogether(client, 20)).toEqual(Array(20).fill(401));
  expect(await tokensOf(client)).toEqual([]);
});

test('a wrong secret costs two scripts, of a client that is remembered, revoked or unknown', async () => {
  const remembered = await rememberedClient();
  const revoked = addClient(auth.account, { status: 'revoked' });
  const unknown = { client_id: randomUUID(), client_secret: newClientSecret() };
  const fail = async ({ client_id }: { client_id: string }) => {
    const form = tokenForm({ client_id, client_secret: newClientSecret() });
    expect((await postToken(auth.service, form)).status).toBe(401);
  };
  for (const client of [remembered, revoked, unknown]) {
    await fail(client);
    expect((await askedOfRedis(() => fail(client))).scripts).toBe(2);
  }
});

test('a rotated secret gets no token from memory, the new one does at once', async () => {
  const client = await rememberedClient();
  const client_secret = newClientSecret();
  const secret = hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers));
  commitChange(auth, client, { secrets: [{ ...secret, expires_at: null }] });
  await deliver(client, 0);
  const tokens = (await tokensOf(client)).length;
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
  expect(await tokensOf(client)).toHaveLength(tokens);
  expect(await isActive(auth.service, await obtainToken(auth.service, { ...client, client_secret }))).toBe(
    true,
  );
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
});

test('a revoked application gets no token from memory, also where account can’t be asked', async () => {
  const client = await rememberedClient();
  commitChange(auth, client, { status: 'revoked', revocation_epoch: 1, secrets: [] });
  await deliver(client, 1);
  auth.account.mood = 'away';
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(503);
  auth.account.mood = 'well';
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
  expect(await tokensOf(client)).toEqual([]);
});

test('a change of the lifespan or the epoch holds for the next token', async () => {
  const client = await rememberedClient();
  commitChange(auth, client, { token_lifespan_sec: 60, revocation_epoch: 3 });
  await deliver(client, 3);
  const response = await postToken(auth.service, tokenForm(client));
  const { access_token, expires_in } = (await response.json()) as {
    access_token: string;
    expires_in: number;
  };
  expect(expires_in).toBe(60);
  expect(await isActive(auth.service, access_token)).toBe(true);
});

test('a Redis that was emptied: account is asked before there is a token', async () => {
  const client = await rememberedClient();
  const asked = () => auth.account.requests.filter((path) => path.endsWith(client.client_id)).length;
  const before = asked();
  await flush(auth);
  auth.account.mood = 'away';
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(503);
  expect(await tokensOf(client)).toEqual([]);
  auth.account.mood = 'well';
  expect(await isActive(auth.service, await obtainToken(auth.service, client))).toBe(true);
  expect(asked()).toBeGreaterThan(before);
});

test('a Redis that was restarted still has the record, which counts for nothing there', async () => {
  const client = await rememberedClient();
  await auth.redis.kill();
  await auth.restartRedis();
  await becomeReady(auth.service);
  auth.account.mood = 'away';
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(503);
  auth.account.mood = 'well';
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(200);
});

test('rotated while tokens are asked for: the old secret gets none once the change is delivered, 40 rounds', async () => {
  let client = await rememberedClient();
  for (let round = 0; round < 40; round += 1) {
    const old = client;
    const client_secret = newClientSecret();
    const secret = hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers));
    const during = Array.from({ length: 4 }, () => postToken(auth.service, tokenForm(old)));
    commitChange(auth, client, { secrets: [{ ...secret, expires_at: null }] });
    await deliver(client, 0);
    expect((await postToken(auth.service, tokenForm(old))).status).toBe(401);
    for (const { status } of await Promise.all(during)) expect([200, 401]).toContain(status);
    client = { ...client, client_secret };
    await obtainToken(auth.service, client);
  }
});
