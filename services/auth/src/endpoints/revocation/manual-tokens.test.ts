import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, addManualToken, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../../test/suite/auth-under-test.ts';
import { isActive, obtainToken } from '../../../test/suite/requests.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

beforeEach(() => {
  auth.account.mood = 'well';
});

afterAll(() => auth.close());

async function revoke({ client_id, client_secret }: TestClient, token: string): Promise<number> {
  const response = await fetch(`${auth.service.publicUrl}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, client_secret, token }),
  });
  return response.status;
}

function newClient(): { client: TestClient; token: string; other: string } {
  const client = addClient(auth.account);
  const token = addManualToken(auth.account, client);
  return { client, token, other: addManualToken(auth.account, client) };
}

test('account has it before the client is told, and only that token is dead', async () => {
  const { client, token, other } = newClient();
  const issued = await obtainToken(auth.service, client);
  expect(await revoke(client, token)).toBe(200);
  expect(auth.account.revoked.at(-1)).toEqual({
    client_id: client.client_id,
    token_hash: accessTokenHash(token),
    address: expect.stringContaining('127.0.0.1'),
    expires_at: expect.any(Number),
  });
  const active = await Promise.all([token, other, issued].map((each) => isActive(auth.service, each)));
  expect(active).toEqual([false, true, true]);
  await auth.store.flushall();
  expect([await isActive(auth.service, token), await isActive(auth.service, other)]).toEqual([false, true]);
});

test('account away or failing: 503, and the token lives until it is told', async () => {
  const { client, token } = newClient();
  expect(await isActive(auth.service, token)).toBe(true);
  for (const mood of ['away', 'failing'] as const) {
    auth.account.mood = mood;
    expect(await revoke(client, token)).toBe(503);
    expect(await isActive(auth.service, token)).toBe(true);
  }
  auth.account.mood = 'well';
  expect(await revoke(client, token)).toBe(200);
  expect(await isActive(auth.service, token)).toBe(false);
});

test('account has issued tokens with their expiry, and those that Redis doesn’t know without one', async () => {
  const { client } = newClient();
  const [issued, unknown] = [await obtainToken(auth.service, client), newAccessToken('tg', client.client_id)];
  auth.account.mood = 'away';
  for (const token of [issued, unknown]) expect(await revoke(client, token)).toBe(503);
  expect(await isActive(auth.service, issued)).toBe(true);
  auth.account.mood = 'well';
  for (const token of [issued, unknown]) expect(await revoke(client, token)).toBe(200);
  expect(await isActive(auth.service, issued)).toBe(false);
  const [known, other] = auth.account.revoked.slice(-2);
  expect(known).toMatchObject({ token_hash: accessTokenHash(issued), expires_at: expect.any(Number) });
  expect(other).toEqual({
    client_id: client.client_id,
    token_hash: accessTokenHash(unknown),
    address: expect.stringContaining('127.0.0.1'),
  });
});

test('account fails after it has committed: 503, and a retry ends the token though account has it already', async () => {
  const { client } = newClient();
  const issued = await obtainToken(auth.service, client);
  await auth.redis.kill();
  expect(await revoke(client, issued)).toBe(503);
  await auth.restartRedis();
  await waitFor(async () => (await revoke(client, issued)) === 200);
  expect(await isActive(auth.service, issued)).toBe(false);
});

test('another client’s token is refused, and account isn’t told', async () => {
  const { client } = newClient();
  const { token } = newClient();
  const before = auth.account.revoked.length;
  expect(await revoke(client, token)).toBe(400);
  expect(auth.account.revoked).toHaveLength(before);
});
