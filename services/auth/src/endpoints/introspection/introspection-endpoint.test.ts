import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { introspectionSchema } from '@tollgate/contracts/introspection';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import { counter, isActive, obtainToken, postIntrospection } from '../../../test/suite/requests.ts';
import { onMasters } from '../../../test/suite/store.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

afterAll(() => auth.close());

async function expectInactive(token: string): Promise<void> {
  const response = await postIntrospection(auth.service, { token });
  expect([response.status, await response.text()]).toEqual([200, '{"active":false}']);
}

async function expectProblem(response: Response, status: number, code: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toMatchObject({ status, code, request_id: expect.any(String) });
}

/** Without the suite's own commands and the probes'. */
async function redisCommands(): Promise<Record<string, number>> {
  const stats = await onMasters(auth, (master) => master.info('commandstats'));
  const rows = [...stats.join('\n').matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g)];
  const calls = rows.map(([, command, count]) => [command ?? '', Number(count)] as const);
  return Object.fromEntries(
    calls.filter(([command]) => !/^(info|time|config.*|ping|hello|auth|client.*|cluster.*)$/.test(command)),
  );
}

async function storedToken(clientId: string, token: string) {
  const key = `auth:{${applicationPart(clientId)}}:token:${accessTokenHash(token)}`;
  return { key, record: JSON.parse((await auth.store.get(key)) ?? '{}') as Record<string, unknown> };
}

test('an active token is answered by the contract, who it is and until when', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const response = await postIntrospection(auth.service, { token });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const body = (await response.json()) as { iat: number; expires_in_ms: number };
  expect(introspectionSchema.parse(body)).toStrictEqual({
    active: true,
    scope: 'api',
    client_id: client.client_id,
    sub: String(client.record.account_id),
    token_type: 'bearer',
    exp: body.iat + 3_600,
    iat: body.iat,
    account_id: client.record.account_id,
    application_id: client.record.application_id,
    expires_in_ms: body.expires_in_ms,
    revocation_epoch: 0,
  });
  expect(body.expires_in_ms).toBeGreaterThan(3_500_000);
  expect(body.expires_in_ms).toBeLessThanOrEqual(3_600_000);
  expect(Math.abs(body.iat - Date.now() / 1000)).toBeLessThan(10);
});

test('a token type hint, whatever it says, changes nothing', async () => {
  const token = await obtainToken(auth.service, addClient(auth.account));
  for (const hint of ['access_token', 'refresh_token', 'nonsense']) {
    const response = await postIntrospection(auth.service, { token, token_type_hint: hint });
    expect(await response.json()).toMatchObject({ active: true });
  }
});

test('anything that isn’t an active token is exactly {"active":false}', async () => {
  const { client_id, client_secret } = addClient(auth.account);
  const token = await obtainToken(auth.service, { client_id, client_secret });
  const changed = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
  const others = [
    newAccessToken('tg', client_id),
    newAccessToken('tg', randomUUID()),
    newAccessToken('other', client_id),
    changed,
    ` ${token}`,
    `${token}\n`,
    `Bearer ${token}`,
    'x',
    'ünïcode',
    'x'.repeat(10_000),
    accessTokenHash(token),
  ];
  for (const other of others) await expectInactive(other);
});

test('a malformed token costs no round trip, any other one', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const unknown = newAccessToken('tg', client.client_id);
  await expectInactive(unknown);
  await onMasters(auth, (master) => master.config('RESETSTAT'));
  for (const malformed of ['x', `${token}0`, newAccessToken('other', client.client_id)]) {
    await expectInactive(malformed);
  }
  expect(await redisCommands()).toEqual({});
  await postIntrospection(auth.service, { token });
  // One round trip; GET and HMGET run inside the script.
  expect(await redisCommands()).toEqual({ evalsha: 1, get: 1, hmget: 1 });
  await expectInactive(unknown);
  expect(await redisCommands()).toEqual({ evalsha: 2, get: 2, hmget: 2 });
});

test('tokens of one application that are introspected together are told apart, each by its own answer', async () => {
  const client = addClient(auth.account);
  const other = await obtainToken(auth.service, addClient(auth.account));
  const tokens = await Promise.all([1, 2, 3].map(() => obtainToken(auth.service, client)));
  const [first = '', revoked = '', spoiled = ''] = tokens;
  await auth.store.del((await storedToken(client.client_id, revoked)).key);
  await auth.store.set((await storedToken(client.client_id, spoiled)).key, 'not json');
  const unknown = newAccessToken('tg', client.client_id);
  const asked = Array.from({ length: 8 }, () => [first, revoked, spoiled, unknown, other]).flat();
  const answers = await Promise.all(asked.map((token) => postIntrospection(auth.service, { token })));
  for (const [index, answer] of answers.entries()) {
    const token = asked[index];
    const active = token === first || token === other;
    if (token === spoiled) await expectProblem(answer, 500, 'internal_error');
    else expect(await answer.json()).toMatchObject({ active });
  }
});

test('exp holds by the code as well: a key that Redis kept too long is inactive', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const { key, record } = await storedToken(client.client_id, token);
  const exp = Math.floor(Date.now() / 1000) + 2;
  await auth.store.set(key, JSON.stringify({ ...record, exp }));
  await waitFor(async () => !(await isActive(auth.service, token)));
  expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
  expect(await auth.store.exists(key)).toBe(1);
});

test('a record that isn’t ours is our fault, not the token’s', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const { key } = await storedToken(client.client_id, token);
  for (const value of ['{}', 'not json', '{"exp":"9999999999"}']) {
    await auth.store.set(key, value);
    await expectProblem(await postIntrospection(auth.service, { token }), 500, 'internal_error');
  }
});

test('without a service credential, or with a client’s: 401 with a Basic challenge', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const basic = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`;
  for (const authorization of ['', 'Basic', basic, `Bearer ${token}`]) {
    const response = await postIntrospection(auth.service, { token }, { authorization });
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="tollgate-private"');
    await expectProblem(response, 401, 'unauthorized');
  }
});

test('a request that is no form with one token is refused', async () => {
  await expectProblem(await postIntrospection(auth.service, {}), 400, 'invalid_request');
  await expectProblem(await postIntrospection(auth.service, 'token='), 400, 'invalid_request');
  await expectProblem(await postIntrospection(auth.service, 'token=a&token=b'), 400, 'invalid_request');
  await expectProblem(await postIntrospection(auth.service, 'token=%FF'), 400, 'invalid_request');
  const json = { 'content-type': 'application/json' };
  await expectProblem(await postIntrospection(auth.service, '{}', json), 415, 'unsupported_media_type');
  await expectProblem(
    await postIntrospection(auth.service, { token: 'x'.repeat(20_000) }),
    413,
    'payload_too_large',
  );
});

test('another method is 405 with Allow', async () => {
  const response = await fetch(`${auth.service.privateUrl}/oauth2/introspect`, {
    headers: { authorization: basicAuthorization(serviceCredential) },
  });
  expect(response.headers.get('allow')).toBe('POST');
  await expectProblem(response, 405, 'method_not_allowed');
});

test('a token in a query string is not read', async () => {
  const token = await obtainToken(auth.service, addClient(auth.account));
  const response = await fetch(`${auth.service.privateUrl}/oauth2/introspect?token=${token}`, {
    method: 'POST',
    headers: {
      authorization: basicAuthorization(serviceCredential),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: '',
  });
  await expectProblem(response, 400, 'invalid_request');
  expect(auth.service.logs()).not.toContain(token.slice(-49));
});

test('the counter tells outcomes apart', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const outcomes = ['active', 'inactive', 'malformed', 'failed'];
  const read = () =>
    Promise.all(
      outcomes.map((outcome) => counter(auth.service, 'tollgate_introspections_total', { outcome })),
    );
  const [active = 0, inactive = 0, malformed = 0, failed = 0] = await read();
  await postIntrospection(auth.service, { token });
  await expectInactive(newAccessToken('tg', client.client_id));
  await expectInactive('x');
  expect(await read()).toEqual([active + 1, inactive + 1, malformed + 1, failed]);
});
