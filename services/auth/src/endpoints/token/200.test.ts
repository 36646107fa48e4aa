import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, parseAccessToken } from '@tollgate/credentials/access-token';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import { clientRecordSchema } from '@tollgate/contracts/client-record';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import { keysOf } from '../../../test/suite/store.ts';
import {
  counter,
  obtainToken,
  postIntrospection,
  postToken,
  postTokenInChunks,
  tokenForm,
} from '../../../test/suite/requests.ts';

const ONE_HUNDRED_YEARS_SEC = 3_155_760_000;

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth({ LOG_LEVEL: 'trace' });
});

afterAll(() => auth.close());

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

async function storedValues(): Promise<string> {
  const keys = await keysOf(auth, '*');
  return [...keys, ...(await Promise.all(keys.map((key) => auth.store.mget(key)))).flat()].join('\n');
}

test('the source’s request is answered with a bearer token of the application’s lifespan', async () => {
  const client = addClient(auth.account, { token_lifespan_sec: 43_200 });
  const response = await postToken(auth.service, tokenForm(client));
  expect(response.status).toBe(200);
  expect(await response.json()).toStrictEqual({
    access_token: expect.stringMatching(/^tg_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/),
    expires_in: 43_200,
    scope: 'api',
    token_type: 'bearer',
  });
});

test('the answer is JSON that nobody may cache, without what gives the server away', async () => {
  const { headers } = await postToken(auth.service, tokenForm(addClient(auth.account)));
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('pragma')).toBe('no-cache');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  for (const name of ['x-powered-by', 'etag', 'server']) expect(headers.has(name)).toBe(false);
});

test('every request gets another token', async () => {
  const client = addClient(auth.account);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => obtainToken(auth.service, client)));
  expect(new Set(tokens).size).toBe(20);
  for (const token of tokens) {
    expect(parseAccessToken(token, 'tg')).toEqual({ applicationPart: applicationPart(client.client_id) });
  }
});

test('credentials are taken from HTTP Basic, form-encoded, with or without the client id in the body', async () => {
  const client = addClient(auth.account);
  const encodedId = client.client_id.replaceAll('-', '%2D');
  for (const form of [{}, { client_id: client.client_id }]) {
    const response = await postToken(
      auth.service,
      { ...form, grant_type: 'client_credentials', scope: 'api' },
      { authorization: basic(encodedId, encodeURIComponent(client.client_secret)) },
    );
    expect([response.status, await response.json()]).toMatchObject([200, { token_type: 'bearer' }]);
  }
});

test('a secret with every printable character is taken by body and by Basic', async () => {
  const secret = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('');
  const peppers = pepperSetting.parse(clientSecretPeppers);
  const { client_id } = addClient(auth.account, {
    secrets: [{ ...hmacSecret(secret, peppers), expires_at: null }],
  });
  const form = tokenForm({ client_id, client_secret: secret });
  expect((await postToken(auth.service, form)).status).toBe(200);
  const { client_secret, ...rest } = form;
  const encoded = new URLSearchParams({ '': client_secret ?? '' }).toString().slice(1);
  expect((await postToken(auth.service, rest, { authorization: basic(client_id, encoded) })).status).toBe(
    200,
  );
});

test('both of two live secrets are good', async () => {
  const peppers = pepperSetting.parse(clientSecretPeppers);
  const [old, current] = [newClientSecret(), newClientSecret()];
  const { client_id } = addClient(auth.account, {
    secrets: [
      { ...hmacSecret(old, peppers), expires_at: new Date(Date.now() + 60_000).toISOString() },
      { ...hmacSecret(current, peppers), expires_at: null },
    ],
  });
  for (const client_secret of [old, current]) {
    expect((await postToken(auth.service, tokenForm({ client_id, client_secret }))).status).toBe(200);
  }
});

test('unknown parameters, a charset and a chunked body are no obstacle', async () => {
  const form = { ...tokenForm(addClient(auth.account)), audience: 'x', 'scope[]': 'admin', resource: '' };
  const type = { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' };
  expect((await postToken(auth.service, form, type)).status).toBe(200);
  const chunked = await postTokenInChunks(auth.service, form, '?scope=admin&client_id=x');
  expect(chunked.status).toBe(200);
});

test('a token is stored under its SHA-256 in its application’s hash slot, until it expires', async () => {
  const { client_id, client_secret, record } = addClient(auth.account, { revocation_epoch: 4 });
  const before = Math.floor(Date.now() / 1000);
  const token = await obtainToken(auth.service, { client_id, client_secret });
  const key = `auth:{${applicationPart(client_id)}}:token:${accessTokenHash(token)}`;
  const stored = JSON.parse((await auth.store.get(key)) ?? 'null') as { iat: number; exp: number };
  expect(stored).toStrictEqual({
    client_id,
    account_id: record.account_id,
    application_id: record.application_id,
    scope: 'api',
    iat: stored.iat,
    exp: stored.iat + 3_600,
    epoch: 4,
  });
  expect(stored.iat).toBeGreaterThanOrEqual(before);
  expect(stored.iat).toBeLessThanOrEqual(Date.now() / 1000);
  expect(await auth.store.expiretime(key)).toBe(stored.exp);
});

test('a lifespan of 60 seconds and one of 100 years are exact', async () => {
  for (const token_lifespan_sec of [60, ONE_HUNDRED_YEARS_SEC]) {
    const response = await postToken(
      auth.service,
      tokenForm(addClient(auth.account, { token_lifespan_sec })),
    );
    const { access_token, expires_in } = (await response.json()) as {
      access_token: string;
      expires_in: number;
    };
    expect(expires_in).toBe(token_lifespan_sec);
    const active = await postIntrospection(auth.service, { token: access_token });
    const { iat, exp } = (await active.json()) as { iat: number; exp: number };
    expect(exp - iat).toBe(token_lifespan_sec);
  }
});

test('neither a token nor a secret is in Redis or in the log', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  await postToken(auth.service, { ...tokenForm(client), scope: 'admin' });
  await postIntrospection(auth.service, { token });
  const kept = (await storedValues()) + auth.service.logs();
  expect(kept).toContain(client.client_id);
  expect(kept).not.toContain(token.slice(-49));
  expect(kept).not.toContain(client.client_secret);
});

test('50 concurrent requests of a client ask account once, later ones not at all while the cache lasts', async () => {
  const client = addClient(auth.account);
  const path = `/private/clients/${client.client_id}`;
  await Promise.all(Array.from({ length: 50 }, () => obtainToken(auth.service, client)));
  await obtainToken(auth.service, client);
  expect(auth.account.requests.filter((asked) => asked === path)).toHaveLength(1);

  const key = `auth:{${applicationPart(client.client_id)}}:client`;
  const ttlMs = await auth.store.pttl(key);
  expect(ttlMs).toBeGreaterThan(50_000);
  expect(ttlMs).toBeLessThanOrEqual(60_000);
  await auth.store.del(key);
  await obtainToken(auth.service, client);
  expect(auth.account.requests.filter((asked) => asked === path)).toHaveLength(2);
});

test('a cached record of another version’s shape is replaced', async () => {
  const client = addClient(auth.account);
  const key = `auth:{${applicationPart(client.client_id)}}:client`;
  await auth.store.set(key, JSON.stringify({ client_id: client.client_id, version: 99 }));
  await obtainToken(auth.service, client);
  expect(JSON.parse((await auth.store.get(key)) ?? 'null')).toEqual(clientRecordSchema.parse(client.record));
});

test('the counters tell what was issued and what was refused', async () => {
  const client = addClient(auth.account);
  const read = async () => [
    await counter(auth.service, 'tollgate_tokens_issued_total'),
    await counter(auth.service, 'tollgate_token_requests_refused_total', { error: 'invalid_client' }),
    await counter(auth.service, 'tollgate_token_requests_refused_total', { error: 'invalid_scope' }),
  ];
  const [issued = 0, badClient = 0, badScope = 0] = await read();
  await obtainToken(auth.service, client);
  await postToken(auth.service, { ...tokenForm(client), client_secret: 'wrong' });
  await postToken(auth.service, { ...tokenForm(client), scope: 'admin' });
  expect(await read()).toEqual([issued + 1, badClient + 1, badScope + 1]);
});

test('histograms tell how long token requests and introspections took, by outcome', async () => {
  const client = addClient(auth.account);
  const read = async () => [
    await counter(auth.service, 'tollgate_token_request_duration_seconds_count', { outcome: 'issued' }),
    await counter(auth.service, 'tollgate_token_request_duration_seconds_count', {
      outcome: 'invalid_client',
    }),
    await counter(auth.service, 'tollgate_introspection_duration_seconds_count', { outcome: 'active' }),
    await counter(auth.service, 'tollgate_introspection_duration_seconds_count', { outcome: 'malformed' }),
  ];
  const [issued = 0, refused = 0, active = 0, malformed = 0] = await read();
  const token = await obtainToken(auth.service, client);
  await postToken(auth.service, { ...tokenForm(client), client_secret: 'wrong' });
  await postIntrospection(auth.service, { token });
  await postIntrospection(auth.service, { token: 'x' });
  expect(await read()).toEqual([issued + 1, refused + 1, active + 1, malformed + 1]);
});
