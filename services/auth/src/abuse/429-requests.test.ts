import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { newClientSecret } from '@tollgate/credentials/client-secret';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../test/suite/auth-under-test.ts';
import { counter, postIntrospection, postToken, tokenForm } from '../../test/suite/requests.ts';

const TOKENS_PER_MINUTE = 120;
const INTROSPECTIONS_PER_SEC = 10;
const REVOCATIONS_PER_SEC = 5;

const other = { id: 'other', secret: 'another-secret-of-sixteen' };

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth({
    TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE: String(TOKENS_PER_MINUTE),
    INTROSPECTIONS_PER_CALLER_PER_SEC: String(INTROSPECTIONS_PER_SEC),
    REVOCATIONS_PER_CLIENT_PER_SEC: String(REVOCATIONS_PER_SEC),
    SERVICE_CREDENTIALS: [serviceCredential, other].map(({ id, secret }) => `${id}:${secret}`).join(' '),
  });
});

afterAll(() => auth.close());

test('a client’s token requests: a minute’s worth at once, then 429 until the next has accrued', async () => {
  const client = addClient(auth.account);
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: TOKENS_PER_MINUTE + 60 }, () => postToken(auth.service, tokenForm(client))),
  );
  const accrued = Math.ceil(((performance.now() - startedAt) / 60_000) * TOKENS_PER_MINUTE);
  const granted = answers.filter(({ status }) => status === 200).length;
  expect(granted).toBeGreaterThanOrEqual(TOKENS_PER_MINUTE);
  expect(granted).toBeLessThanOrEqual(TOKENS_PER_MINUTE + accrued);

  const limited = answers.find(({ status }) => status === 429);
  expect(limited?.headers.get('retry-after')).toBe('1');
  expect(await limited?.json()).toEqual({
    error: 'temporarily_unavailable',
    error_description: 'Too many requests. Try again later.',
  });
  expect(await counter(auth.service, 'tollgate_requests_limited_total', { limit: 'client' })).toBe(
    answers.length - granted,
  );

  expect((await postToken(auth.service, tokenForm(addClient(auth.account)))).status).toBe(200);
  await waitFor(async () => (await postToken(auth.service, tokenForm(client))).status === 200);
  const ttlMs = await auth.store.pttl(`auth:{${applicationPart(client.client_id)}}:requests`);
  expect(ttlMs).toBeGreaterThan(0);
  expect(ttlMs).toBeLessThanOrEqual(60_000);
});

test('a stranger’s requests don’t use up a client’s allowance', async () => {
  const client = addClient(auth.account);
  await postToken(auth.service, { ...tokenForm(client), client_secret: newClientSecret() });
  expect(await auth.store.exists(`auth:{${applicationPart(client.client_id)}}:requests`)).toBe(0);
});

test('introspections beyond a caller’s limit are 429 problem+json, and another caller’s go on', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 * INTROSPECTIONS_PER_SEC }, () =>
      postIntrospection(auth.service, { token: 'x' }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(
    INTROSPECTIONS_PER_SEC,
  );
  const limited = answers.find(({ status }) => status === 429);
  expect(limited?.headers.get('retry-after')).toBe('1');
  expect(limited?.headers.get('content-type')).toBe('application/problem+json');
  expect(await limited?.json()).toMatchObject({ code: 'too_many_requests', status: 429 });

  const authorization = `Basic ${Buffer.from(`${other.id}:${other.secret}`).toString('base64')}`;
  expect((await postIntrospection(auth.service, { token: 'x' }, { authorization })).status).toBe(200);
  await waitFor(async () => (await postIntrospection(auth.service, { token: 'x' })).status === 200);
});

test('revocations beyond a client’s limit are 429, and another client’s go on', async () => {
  const revoke = ({ client_id, client_secret }: TestClient) =>
    fetch(`${auth.service.publicUrl}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id, client_secret, token: newAccessToken('tg', client_id) }),
    });
  const client = addClient(auth.account);
  const answers = await Promise.all(Array.from({ length: 10 * REVOCATIONS_PER_SEC }, () => revoke(client)));
  const limited = answers.filter(({ status }) => status === 429);
  expect(answers.length - limited.length).toBeGreaterThanOrEqual(REVOCATIONS_PER_SEC);
  expect(limited[0]?.headers.get('retry-after')).toBe('1');
  expect(await limited[0]?.json()).toMatchObject({ error: 'temporarily_unavailable' });
  expect(await counter(auth.service, 'tollgate_requests_limited_total', { limit: 'revocation' })).toBe(
    limited.length,
  );
  expect((await revoke(addClient(auth.account))).status).toBe(200);
  await waitFor(async () => (await revoke(client)).status === 200);
});
