import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newAccessToken } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import { call, sendRaw } from '../../../test/suite/http-client.ts';

let gateway: GatewayUnderTest;

beforeAll(async () => {
  gateway = await startGateway({ env: { INTROSPECTION_NEGATIVE_CACHE_TTL_MS: '100' } });
});

afterAll(() => gateway.stop());

const unauthorized = {
  errors: [
    {
      message: 'Unauthorized',
      extensions: { code: 'unauthorized', request_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    },
  ],
};

describe('a call without a Bearer credential gets 401 with the bare challenge', () => {
  test.each([
    ['no Authorization header', {}],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['a scheme that only begins like Bearer', { authorization: 'BearerX abc' }],
  ])('%s', async (_name, headers) => {
    const answer = await call(gateway.graphqlUrl, { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
    expect(answer.json()).toEqual(unauthorized);
  });

  test('a token anywhere but in the header counts for nothing', async () => {
    const token = gateway.auth.issue();
    const answer = await call(`${gateway.graphqlUrl}?token=${token}&access_token=${token}`, {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: `token=${token}; access_token=${token}; Authorization=Bearer ${token}`,
      },
      body: `access_token=${token}`,
    });
    expect(answer.status).toBe(401);
  });
});

describe('a Bearer credential that is not good gets 401 invalid_token', () => {
  test.each([
    ['no token', 'Bearer'],
    ['not a token', 'Bearer abc'],
    ['two tokens', 'Bearer abc def'],
    ['characters that no token has', 'Bearer a,b'],
    ['a token with a wrong checksum', `Bearer ${newAccessToken('tg', crypto.randomUUID()).slice(0, -1)}_`],
    ['a token with another prefix', `Bearer ${newAccessToken('other', crypto.randomUUID())}`],
    ['a token that auth does not know', `Bearer ${newAccessToken('tg', crypto.randomUUID())}`],
  ])('%s', async (_name, authorization) => {
    const answer = await call(gateway.graphqlUrl, { headers: { authorization } });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate", error="invalid_token"');
    expect(answer.json()).toEqual(unauthorized);
  });
});

test('a malformed token costs no call to auth', async () => {
  const before = gateway.auth.requests.length;
  await gateway.query({ token: 'tg_made_up' });
  expect(gateway.auth.requests).toHaveLength(before);
});

test.each(['Bearer', 'bearer', 'BEARER'])('the scheme may be written %s', async (scheme) => {
  const answer = await gateway.query({ headers: { authorization: `${scheme} ${gateway.auth.issue()}` } });
  expect(answer.status).toBe(200);
});

test('two Authorization headers are refused, whichever of them is good', async () => {
  const answer = await sendRaw(
    gateway.graphqlUrl,
    'POST /graphql HTTP/1.1\r\nHost: a\r\nConnection: close\r\n' +
      `Authorization: Bearer ${gateway.auth.issue()}\r\nAuthorization: Bearer x\r\nContent-Length: 0\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/www-authenticate: Bearer realm="tollgate", error="invalid_request"/i);
  expect(answer).toContain('"code":"invalid_request"');
});

test('50 concurrent calls with one token are one introspection and one entitlement', async () => {
  const token = gateway.auth.issue({ accountId: 5050 });
  const introspections = gateway.auth.requests.length;
  const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.query({ token })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(gateway.auth.requests.length - introspections).toBe(1);
  expect(gateway.account.requests.filter((path) => path.endsWith('/5050'))).toHaveLength(1);
});

test('the gateway asks with its service credential', async () => {
  await gateway.query({ token: gateway.auth.issue() });
  expect(gateway.auth.lastAuthorization()).toMatch(/^Basic /);
});

test('auth away is 503 with Retry-After, never 401; cached tokens pass; and it returns by itself', async () => {
  const cached = gateway.auth.issue();
  const fresh = gateway.auth.issue();
  expect((await gateway.query({ token: cached })).status).toBe(200);
  await gateway.auth.goAway();
  const refused = await gateway.query({ token: fresh });
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: 'service_unavailable' } }] });
  expect((await gateway.query({ token: cached })).status).toBe(200);
  await gateway.auth.comeBack();
  await waitFor(async () => (await gateway.query({ token: fresh })).status === 200);
});

test('an unknown token that becomes good is good within the negative cache', async () => {
  const token = gateway.auth.issue();
  gateway.auth.revoke(token);
  expect((await gateway.query({ token })).status).toBe(401);
  const known = gateway.auth.requests.length;
  expect((await gateway.query({ token })).status).toBe(401);
  expect(gateway.auth.requests.length - known).toBeLessThanOrEqual(1);
});
