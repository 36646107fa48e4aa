import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../../test/suite/auth-under-test.ts';
import { isActive, obtainToken } from '../../../test/suite/requests.ts';
import { subscribe } from '../../../test/suite/subscribe.ts';
import { keysOf } from '../../../test/suite/store.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

afterAll(() => auth.close());

function postRevocation(
  form: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${auth.service.publicUrl}/oauth2/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
}

function revocation({ client_id, client_secret }: TestClient, token: string): Record<string, string> {
  return { client_id, client_secret, token };
}

async function expectDone(response: Response): Promise<void> {
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect(response.headers.get('cache-control')).toBe('no-store');
}

async function expectRefused(response: Response, status: number, error: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error, error_description: expect.any(String) });
  expect(response.headers.get('cache-control')).toBe('no-store');
}

test('a client revokes one token of its own; its others live on', async () => {
  const client = addClient(auth.account);
  const [token, other] = [await obtainToken(auth.service, client), await obtainToken(auth.service, client)];
  await expectDone(await postRevocation(revocation(client, token)));
  expect([await isActive(auth.service, token), await isActive(auth.service, other)]).toEqual([false, true]);
  expect(await keysOf(auth, `auth:{${applicationPart(client.client_id)}}:token:*`)).toHaveLength(1);
});

test('the credentials may come as HTTP Basic, and a hint changes nothing', async () => {
  const client = addClient(auth.account);
  const authorization = `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}`;
  for (const token_type_hint of ['access_token', 'refresh_token', 'nonsense']) {
    const token = await obtainToken(auth.service, client);
    await expectDone(await postRevocation({ token, token_type_hint }, { authorization }));
    expect(await isActive(auth.service, token)).toBe(false);
  }
});

test('revoked twice, unknown and malformed tokens: 200, and nothing happens', async () => {
  const client = addClient(auth.account);
  const kept = await obtainToken(auth.service, client);
  const gone = await obtainToken(auth.service, client);
  const tokens = [gone, gone, newAccessToken('tg', client.client_id), 'x', `${kept}0`, ` ${kept}`, 'ünïcode'];
  for (const token of tokens) await expectDone(await postRevocation(revocation(client, token)));
  expect(await isActive(auth.service, kept)).toBe(true);
});

test('another client’s token is refused, live or not, and stays active', async () => {
  const [client, other] = [addClient(auth.account), addClient(auth.account)];
  const token = await obtainToken(auth.service, other);
  const answers = await Promise.all(
    [token, newAccessToken('tg', other.client_id)].map((one) => postRevocation(revocation(client, one))),
  );
  for (const answer of answers) await expectRefused(answer, 400, 'invalid_request');
  expect(await isActive(auth.service, token)).toBe(true);
});

test('without good credentials nothing is revoked', async () => {
  const client = addClient(auth.account);
  const revoked = addClient(auth.account, { status: 'revoked' });
  const token = await obtainToken(auth.service, client);
  const wrong = { ...client, client_secret: 'wrong' };
  for (const one of [wrong, revoked]) {
    const response = await postRevocation(revocation(one, token));
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="tollgate"');
    await expectRefused(response, 401, 'invalid_client');
  }
  for (const authorization of [undefined, 'Basic !!!!', `Bearer ${token}`, 'Digest username="x"']) {
    const response = await postRevocation({ token }, authorization === undefined ? {} : { authorization });
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="tollgate"');
    await expectRefused(response, 401, 'invalid_client');
  }
  const both = { authorization: `Basic ${Buffer.from('x:y').toString('base64')}` };
  await expectRefused(await postRevocation(revocation(client, token), both), 400, 'invalid_request');
  expect(await isActive(auth.service, token)).toBe(true);
});

test('a request that is no form with one token is refused', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const form = new URLSearchParams(revocation(client, token)).toString();
  await expectRefused(await postRevocation(revocation(client, '')), 400, 'invalid_request');
  await expectRefused(await postRevocation(`${form}&token=${token}`), 400, 'invalid_request');
  await expectRefused(
    await postRevocation(form, { 'content-type': 'application/json' }),
    400,
    'invalid_request',
  );
  await expectRefused(await postRevocation(revocation(client, 'x'.repeat(20_000))), 413, 'invalid_request');
  expect(await isActive(auth.service, token)).toBe(true);
});

test('never by GET or another method, nor by a token in the address', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const query = new URLSearchParams(revocation(client, token)).toString();
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const response = await fetch(`${auth.service.publicUrl}/oauth2/revoke?${query}`, { method });
    expect(response.headers.get('allow')).toBe('POST');
    await expectRefused(response, 405, 'invalid_request');
  }
  const { client_id, client_secret } = client;
  const response = await fetch(`${auth.service.publicUrl}/oauth2/revoke?token=${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id, client_secret }).toString(),
  });
  await expectRefused(response, 400, 'invalid_request');
  expect(await isActive(auth.service, token)).toBe(true);
  expect(auth.service.logs()).not.toContain(token.slice(-49));
});

test('it is told on the channel by the token’s hash', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const { promise: told, resolve } = Promise.withResolvers<string>();
  const channel = { channel: CLIENT_CHANGE_CHANNEL, naming: accessTokenHash(token) };
  const subscriber = await subscribe(auth, channel, resolve);
  try {
    await postRevocation(revocation(client, token));
    const { client_id } = client;
    const change = { change: 'token', client_id, revocation_epoch: 0, source: 'auth' };
    expect(JSON.parse(await told)).toEqual({ ...change, token_hash: accessTokenHash(token) });
  } finally {
    subscriber.close();
  }
});

test('Redis away: temporarily_unavailable, never a 200', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  await auth.redis.kill();
  await expectRefused(await postRevocation(revocation(client, token)), 503, 'temporarily_unavailable');
  await auth.restartRedis();
  await waitFor(async () => (await postRevocation(revocation(client, token))).status === 200);
  expect(await isActive(auth.service, token)).toBe(false);
});
