import { beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { activeToken } from '@tollgate/testbed/active-token';
import { createIntrospector } from './introspection.ts';
import type { Introspector, IntrospectorOptions } from './introspection.ts';

const CLIENT_ID = '6f1f6d5e-5d2a-4f0b-9c0e-0a4b1c2d3e4f';

let requests: string[];
let epochOf: (token: string) => number;

beforeEach(() => {
  requests = [];
  epochOf = () => 1;
});

const auth: IntrospectorOptions['auth'] = {
  postForm: (_path, { token = '' }, schema) => {
    requests.push(token);
    const answer = { ...activeToken({ clientId: CLIENT_ID }), revocation_epoch: epochOf(token) };
    return Promise.resolve(schema.parse(answer));
  },
};

function introspector(): Introspector {
  const made = createIntrospector({
    auth,
    tokenPrefix: 'tg',
    cacheTtlMs: 30_000,
    negativeCacheTtlMs: 30_000,
    cacheMaxEntries: 100,
  });
  made.trustCacheUntil(Infinity);
  return made;
}

function newToken(): string {
  return newAccessToken('tg', CLIENT_ID);
}

test('tokens below a revoked client’s epoch are dead, whatever auth says; the others are not asked about', async () => {
  const { introspect, dropClient, dropAll } = introspector();
  const [below, above] = [newToken(), newToken()];
  epochOf = (token) => (token === above ? 2 : 1);
  for (const token of [below, above]) await introspect(token);
  // account repeats the event until auth acknowledges it.
  for (let time = 0; time < 3; time += 1) dropClient(CLIENT_ID, 2);
  expect([await introspect(below), (await introspect(above))?.active]).toEqual([null, true]);
  expect(requests).toHaveLength(2);
  // An auth that missed the event still answers "active".
  dropAll();
  expect([await introspect(below), (await introspect(above))?.active]).toEqual([null, true]);
  const late = newToken();
  expect(await introspect(late)).toBeNull();
  // A late event of an earlier change lowers nothing.
  dropClient(CLIENT_ID, 1);
  expect(await introspect(newToken())).toBeNull();
});

test('a client that has only changed keeps its tokens in the cache', async () => {
  const { introspect, dropClient } = introspector();
  const token = newToken();
  await introspect(token);
  dropClient(CLIENT_ID, 1);
  expect(await introspect(token)).not.toBeNull();
  expect(requests).toEqual([token]);
});

test('a token that is revoked while auth is asked is dead, also where auth answers "active" each time', async () => {
  for (const revoke of [
    ({ dropClient }: Introspector) => {
      dropClient(CLIENT_ID, 1);
    },
    ({ dropToken }: Introspector, token: string) => {
      dropToken(accessTokenHash(token));
    },
  ]) {
    const made = introspector();
    const token = newToken();
    epochOf = () => {
      revoke(made, token);
      return 0;
    };
    expect(await made.introspect(token).catch(() => null)).toBeNull();
    epochOf = () => 0;
    expect(await made.introspect(token)).toBeNull();
  }
});
