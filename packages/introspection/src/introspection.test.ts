import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { createPrivateApi } from '@tollgate/http/private-api-client';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { activeToken } from '@tollgate/testbed/active-token';
import { createIntrospector } from './introspection.ts';
import type { Introspector, IntrospectorOptions } from './introspection.ts';

let authServer: Server;
let auth: PrivateApi;
let requests: { url: string; token: string | null; requestId: string | undefined }[];
let answer: (token: string) => unknown;

beforeEach(async () => {
  requests = [];
  answer = () => activeToken();
  authServer = createServer((req, res) => void respond(req, res)).listen(0, '127.0.0.1');
  await once(authServer, 'listening');
  auth = createPrivateApi({
    baseUrl: `http://127.0.0.1:${String((authServer.address() as AddressInfo).port)}`,
    credential: { id: 'gateway', secret: 'a-secret-of-sixteen-or-more' },
    timeoutMs: 2_000,
    connectionMaxAgeMs: 60_000,
    plainHttp: true,
  });
});

afterEach(async () => {
  await auth.close();
  authServer.closeAllConnections();
  authServer.close();
});

async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const token = new URLSearchParams(await text(req)).get('token') ?? '';
  requests.push({ url: req.url ?? '', token, requestId: req.headers['x-request-id']?.toString() });
  const body = answer(token);
  if (body === undefined) res.writeHead(500);
  res.end(JSON.stringify(body ?? {}));
}

function introspector(options: Partial<IntrospectorOptions> = {}) {
  const made = createIntrospector({
    auth,
    tokenPrefix: 'tg',
    cacheTtlMs: 30_000,
    negativeCacheTtlMs: 30_000,
    cacheMaxEntries: 100,
    ...options,
  });
  made.trustCacheUntil(Infinity);
  return made;
}

function newToken(): string {
  return newAccessToken('tg', '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f');
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('still not so after 10 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const unavailable = expect.objectContaining({ code: 'service_unavailable', status: 503 });

test('an active token is answered by auth once, then from the cache', async () => {
  const lookups: string[] = [];
  const { introspect } = introspector({ onLookup: (outcome) => void lookups.push(outcome) });
  const token = newToken();
  expect(await introspect(token, 'request-1')).toMatchObject({ active: true, account_id: 7, scope: 'api' });
  expect(await introspect(token, 'request-2')).toMatchObject({ active: true, account_id: 7 });
  expect(requests).toEqual([{ url: '/oauth2/introspect', token, requestId: 'request-1' }]);
  expect(lookups).toEqual(['miss', 'hit']);
});

test('the cache alone answers at once, and only while it may', async () => {
  const lookups: string[] = [];
  const { introspect, introspectCached, trustCacheUntil, dropAll } = introspector({
    onLookup: (outcome) => void lookups.push(outcome),
  });
  const token = newToken();
  expect(introspectCached(accessTokenHash(token))).toBeUndefined();
  await introspect(token);
  expect(introspectCached(accessTokenHash(token))).toMatchObject({ active: true, account_id: 7 });
  expect(lookups).toEqual(['miss', 'hit']);
  trustCacheUntil(0);
  expect(introspectCached(accessTokenHash(token))).toBeUndefined();
  trustCacheUntil(Infinity);
  dropAll();
  expect(introspectCached(accessTokenHash(token))).toBeUndefined();
  expect(requests).toHaveLength(1);
});

test('50 concurrent callers with one token make one request', async () => {
  const lookups: string[] = [];
  const { introspect } = introspector({ onLookup: (outcome) => void lookups.push(outcome) });
  const token = newToken();
  const answers = await Promise.all(Array.from({ length: 50 }, () => introspect(token)));
  expect(requests).toHaveLength(1);
  expect(answers.filter((active) => active?.account_id === 7)).toHaveLength(50);
  expect(lookups.filter((outcome) => outcome === 'joined')).toHaveLength(49);
});

test('concurrent callers with different tokens each get their own answer', async () => {
  const { introspect } = introspector();
  const tokens = Array.from({ length: 20 }, newToken);
  answer = (token) => activeToken({ lifespanSec: 60, accountId: tokens.indexOf(token) });
  const answers = await Promise.all([...tokens, ...tokens].map((token) => introspect(token)));
  expect(answers.map((active) => active?.account_id)).toEqual([...tokens.keys(), ...tokens.keys()]);
  expect(requests).toHaveLength(20);
});

test('a malformed token is inactive without a request', async () => {
  const { introspect } = introspector();
  for (const token of ['', 'x', newAccessToken('other', '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f')]) {
    expect(await introspect(token)).toBeNull();
  }
  expect(requests).toEqual([]);
});

test('an inactive token is asked about again only after the negative cache’s time', async () => {
  answer = () => ({ active: false });
  const token = newToken();
  const patient = introspector();
  expect(await patient.introspect(token)).toBeNull();
  expect(await patient.introspect(token)).toBeNull();
  expect(requests).toHaveLength(1);

  const { introspect } = introspector({ negativeCacheTtlMs: 20 });
  expect(await introspect(token)).toBeNull();
  answer = () => activeToken({ lifespanSec: 60 });
  await until(async () => (await introspect(token)) !== null);
});

test('an active answer is asked for again after the cache’s time', async () => {
  const { introspect } = introspector({ cacheTtlMs: 20 });
  const token = newToken();
  await until(async () => {
    expect(await introspect(token)).not.toBeNull();
    return requests.length === 3;
  });
});

test('the cache never serves a token past its exp', async () => {
  const { introspect } = introspector();
  const token = newToken();
  const { exp, ...rest } = activeToken({ lifespanSec: 2 });
  answer = () => {
    const expires_in_ms = exp * 1_000 - Date.now();
    return expires_in_ms > 0 ? { ...rest, exp, expires_in_ms } : { active: false };
  };
  let lastServedMs = 0;
  await until(async () => {
    const askedMs = Date.now();
    const active = await introspect(token);
    if (active !== null) lastServedMs = askedMs;
    return active === null;
  });
  expect(lastServedMs).toBeGreaterThan(0);
  expect(lastServedMs).toBeLessThan(exp * 1000);
});

test('the cache is bounded: the token not used for longest goes', async () => {
  const { introspect } = introspector({ cacheMaxEntries: 2 });
  const [one, two, three] = [newToken(), newToken(), newToken()];
  for (const token of [one, two, three, three, two]) await introspect(token);
  expect(requests).toHaveLength(3);
  await introspect(one);
  expect(requests).toHaveLength(4);
});

test('a failure reaches all who wait, isn’t kept, and is never "inactive"', async () => {
  const { introspect } = introspector();
  const token = newToken();
  answer = () => undefined;
  const failures = await Promise.allSettled(Array.from({ length: 50 }, () => introspect(token)));
  expect(requests).toHaveLength(1);
  for (const failure of failures) expect(failure).toEqual({ status: 'rejected', reason: unavailable });
  answer = () => activeToken({ lifespanSec: 60 });
  expect(await introspect(token)).toMatchObject({ account_id: 7 });
});

test('an answer that breaks the contract is service_unavailable', async () => {
  const { introspect } = introspector();
  for (const broken of [
    {},
    { active: true },
    { active: 'false' },
    { ...activeToken({ lifespanSec: 60 }), account_id: '7' },
  ]) {
    answer = () => broken;
    await expect(introspect(newToken())).rejects.toEqual(unavailable);
  }
});

test('auth away is service_unavailable; what is cached is still served', async () => {
  const { introspect } = introspector();
  const known = newToken();
  await introspect(known);
  authServer.closeAllConnections();
  authServer.close();
  await expect(introspect(newToken())).rejects.toEqual(unavailable);
  expect(await introspect(known)).toMatchObject({ active: true });
});

const CLIENT_ID = '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f';

test('a dropped client’s tokens are dead without a question, others’ are not', async () => {
  const { introspect, dropClient } = introspector();
  const others = newAccessToken('tg', '00000000-5d2a-4f0b-9c0e-0a4b1c2d3e4f');
  const tokens = [newToken(), newToken(), newToken(), others];
  for (const token of tokens) await introspect(token);
  dropClient(CLIENT_ID, 1);
  for (const token of tokens.slice(0, 3)) expect(await introspect(token)).toBeNull();
  expect(await introspect(others)).not.toBeNull();
  expect(requests).toHaveLength(4);
});

test('a dropped token is dead without a question, others of its client live; dropAll drops everything', async () => {
  const { introspect, dropToken, dropAll } = introspector();
  const [one, other] = [newToken(), newToken()];
  await introspect(one);
  await introspect(other);
  dropToken(accessTokenHash(one));
  expect([await introspect(one), (await introspect(other))?.active]).toEqual([null, true]);
  expect(requests.map(({ token }) => token)).toEqual([one, other]);
  dropAll();
  expect([await introspect(one), (await introspect(other))?.active]).toEqual([null, true]);
  expect(requests.map(({ token }) => token)).toEqual([one, other, other]);
});

test('an answer that a drop overtook is neither given nor kept: auth is asked again', async () => {
  for (const drop of [
    ({ dropToken }: Introspector, token: string) => {
      dropToken(accessTokenHash(token));
    },
    ({ dropAll }: Introspector) => {
      dropAll();
    },
  ]) {
    requests = [];
    const made = introspector();
    const token = newToken();
    answer = () => {
      if (requests.length > 1) return { active: false };
      // The revocation arrives after auth has decided and before its response.
      drop(made, token);
      return activeToken({ lifespanSec: 60 });
    };
    const answers = await Promise.all([made.introspect(token), made.introspect(token)]);
    expect([answers, requests.length]).toEqual([[null, null], 2]);
    expect(await made.introspect(token)).toBeNull();
  }
});

test('a drop of something else doesn’t disturb an introspection under way', async () => {
  const { introspect, dropClient, dropToken } = introspector();
  answer = () => {
    dropClient('00000000-5d2a-4f0b-9c0e-0a4b1c2d3e4f', 1);
    dropToken(accessTokenHash(newToken()));
    return activeToken({ lifespanSec: 60 });
  };
  const token = newToken();
  await introspect(token);
  expect(await introspect(token)).not.toBeNull();
  expect(requests).toHaveLength(1);
});

test('a token that is dropped during every answer is service_unavailable', async () => {
  const { introspect, dropAll } = introspector();
  answer = () => {
    dropAll();
    return activeToken({ lifespanSec: 60 });
  };
  await expect(introspect(newToken())).rejects.toEqual(unavailable);
  expect(requests).toHaveLength(3);
});

test('a cache that isn’t trusted is not used, and what it holds is used again with the trust', async () => {
  const { introspect, trustCacheUntil } = introspector();
  const token = newToken();
  await introspect(token);
  trustCacheUntil(0);
  await introspect(token);
  await introspect(token);
  expect(requests).toHaveLength(3);
  trustCacheUntil(performance.now() + 60_000);
  await introspect(token);
  expect(requests).toHaveLength(3);
});

test('after a rest the cache answers once its trust is renewed, and auth if it is not', async () => {
  const { introspect, introspectCached, trustCacheUntil, dropAll, rest } = introspector();
  const token = newToken();
  await introspect(token);
  rest.begin(() => {
    trustCacheUntil(Infinity);
    return Promise.resolve();
  });
  expect(introspectCached(accessTokenHash(token))).toBeUndefined();
  expect(await introspect(token)).toMatchObject({ active: true });
  expect(requests).toHaveLength(1);
  rest.begin(() => {
    trustCacheUntil(0);
    dropAll();
    return Promise.resolve();
  });
  expect(await introspect(token)).toMatchObject({ active: true });
  expect(requests).toHaveLength(2);
});
