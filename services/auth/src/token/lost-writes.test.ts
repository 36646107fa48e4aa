import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../test/suite/auth-under-test.ts';
import { isActive, obtainToken, postIntrospection, postToken, tokenForm } from '../../test/suite/requests.ts';
import { commitChange, revokeTokens } from '../../test/suite/revoke.ts';
import { flush, keysOf, onMasters } from '../../test/suite/store.ts';
import { testOfOneServer } from '../../test/suite/topology.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

beforeEach(() => {
  auth.account.mood = 'well';
});

afterAll(() => auth.close());

/**
 * Everything that Redis holds, as a backup would, with a function that goes back to it. Epochs come back last:
 * otherwise auth could verify one while tokens are still coming back, which no Redis does.
 */
async function snapshot(kept: (key: string) => boolean = () => true) {
  const isEpoch = (key: string) => key.endsWith(':epoch');
  const keys = (await keysOf(auth, '*'))
    .filter(kept)
    .toSorted((one, other) => Number(isEpoch(one)) - Number(isEpoch(other)));
  const values = await Promise.all(
    keys.map(async (key) => [key, await auth.store.dumpBuffer(key), await auth.store.pttl(key)] as const),
  );
  return async () => {
    await flush(auth);
    for (const [key, value, ttlMs] of values) {
      // PTTL is -2 for a key that expired before it was read.
      if (ttlMs !== -2) await auth.store.restore(key, Math.max(ttlMs, 0), value, 'REPLACE');
    }
  };
}

/** Resolves when auth has reconnected. */
async function restartRedis(): Promise<void> {
  await auth.redis.kill();
  await auth.restartRedis();
  await becomeReady(auth.service);
}

/** Includes a function that restores the earlier Redis. */
async function revokedClient(kept?: (key: string) => boolean) {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  expect(await isActive(auth.service, token)).toBe(true);
  const goBack = await snapshot(kept);
  await revokeTokens(auth, client);
  expect(await isActive(auth.service, token)).toBe(false);
  return { client, token, goBack };
}

async function expectUnknowable(token: string): Promise<void> {
  const response = await postIntrospection(auth.service, { token });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toMatchObject({ code: 'service_unavailable' });
}

function asked({ client_id }: TestClient): number {
  return auth.account.requests.filter((path) => path.endsWith(client_id)).length;
}

test('Redis restarted without its last writes: a revoked token stays inactive', async () => {
  const { client, token, goBack } = await revokedClient();
  await restartRedis();
  await goBack();
  expect(await keysOf(auth, `auth:{${applicationPart(client.client_id)}}:token:*`)).toHaveLength(1);
  expect(await isActive(auth.service, token)).toBe(false);
});

test('the same with account away: 503, neither active nor inactive, until account is back', async () => {
  const { token, goBack } = await revokedClient();
  await restartRedis();
  await goBack();
  for (const mood of ['away', 'failing'] as const) {
    auth.account.mood = mood;
    await expectUnknowable(token);
  }
  auth.account.mood = 'well';
  expect(await isActive(auth.service, token)).toBe(false);
});

test('a Redis that has the tokens and not the epochs: inactive, and 503 while account is away', async () => {
  const { client, token, goBack } = await revokedClient((key) => key.includes(':token:'));
  await goBack();
  auth.account.mood = 'away';
  await expectUnknowable(token);
  auth.account.mood = 'well';
  expect(await isActive(auth.service, token)).toBe(false);
  expect(await auth.store.exists(tokenKey(client, token))).toBe(0);
});

testOfOneServer()(
  'a replica that was promoted without the last writes is noticed, without a restart or a new connection',
  async () => {
    const { token, goBack } = await revokedClient();
    await onMasters(auth, (master) => master.replicaof('127.0.0.1', 9));
    await onMasters(auth, (master) => master.replicaof('NO', 'ONE'));
    await goBack();
    expect(await isActive(auth.service, token)).toBe(false);
  },
);

test('Redis emptied while it runs: no token comes back, and new ones work', async () => {
  const { client, token } = await revokedClient();
  await flush(auth);
  expect(await isActive(auth.service, token)).toBe(false);
  expect(await isActive(auth.service, await obtainToken(auth.service, client))).toBe(true);
});

test('good tokens stay active through a restart; account is asked once per client', async () => {
  const client = addClient(auth.account);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => obtainToken(auth.service, client)));
  const before = asked(client);
  await restartRedis();
  const answers = await Promise.all(tokens.map((token) => isActive(auth.service, token)));
  expect(answers).toEqual(tokens.map(() => true));
  expect(asked(client)).toBe(before + 1);
});

test('a token below the last known epoch is inactive at once, verified or not', async () => {
  const { client, token, goBack } = await revokedClient((key) => key.includes(':token:'));
  const epochKey = `auth:{${applicationPart(client.client_id)}}:epoch`;
  await goBack();
  await auth.store.hset(epochKey, 'epoch', '1');
  auth.account.mood = 'away';
  expect(await isActive(auth.service, token)).toBe(false);
});

test('a deleted application’s token is inactive, though Redis has lost that', async () => {
  const { client, token, goBack } = await revokedClient();
  auth.account.clients.delete(client.client_id);
  await restartRedis();
  await goBack();
  expect(await isActive(auth.service, token)).toBe(false);
  expect(await isActive(auth.service, token)).toBe(false);
});

test('the old record doesn’t come back either: a revoked application’s credentials stay refused', async () => {
  const client = addClient(auth.account);
  await obtainToken(auth.service, client);
  const goBack = await snapshot();
  commitChange(auth, client, { status: 'revoked' });
  await revokeTokens(auth, client);
  await restartRedis();
  await goBack();
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
});

test('an answer of account that Redis’ loss overtook is not noted', async () => {
  const { client, token, goBack } = await revokedClient((key) => key.includes(':token:'));
  await goBack();
  const release = auth.account.hold();
  const before = asked(client);
  const underWay = isActive(auth.service, token);
  await waitFor(() => asked(client) === before + 1);
  await goBack();
  release();
  expect(await underWay).toBe(false);
  // The first answer's generation was gone, so auth asked again.
  expect(asked(client)).toBe(before + 2);
});

async function giveBack({ client_id, client_secret }: TestClient, token: string): Promise<void> {
  const response = await fetch(`${auth.service.publicUrl}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, client_secret, token }),
  });
  expect(response.status).toBe(200);
}

/** The revoked tokens fill more than one page of account's. */
async function givenBack() {
  const client = addClient(auth.account);
  const kept = await obtainToken(auth.service, client);
  const given = await Promise.all(Array.from({ length: 8 }, () => obtainToken(auth.service, client)));
  const goBack = await snapshot();
  for (const token of given) await giveBack(client, token);
  return { client, kept, given, goBack };
}

async function activeOf(tokens: readonly string[]): Promise<boolean[]> {
  return Promise.all(tokens.map((token) => isActive(auth.service, token)));
}

test('Redis restarted without its last writes: tokens that their client gave back stay inactive, the others live', async () => {
  const { client, kept, given, goBack } = await givenBack();
  await restartRedis();
  await goBack();
  const tokensOf = () => keysOf(auth, `auth:{${applicationPart(client.client_id)}}:token:*`);
  expect(await tokensOf()).toHaveLength(9);
  expect(await activeOf([...given, kept])).toEqual([...given.map(() => false), true]);
  expect(await tokensOf()).toHaveLength(1);
});

test('the same with account away: 503, neither active nor inactive, until account is back', async () => {
  const { kept, given, goBack } = await givenBack();
  await restartRedis();
  await goBack();
  auth.account.mood = 'away';
  for (const token of [kept, given[0] ?? '']) await expectUnknowable(token);
  auth.account.mood = 'well';
  expect(await activeOf([...given, kept])).toEqual([...given.map(() => false), true]);
});

test('a token that Redis had lost when its client gave it back doesn’t come back with a backup', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const goBack = await snapshot();
  await flush(auth);
  await giveBack(client, token);
  await restartRedis();
  await goBack();
  expect(await isActive(auth.service, token)).toBe(false);
});

test('Redis loses its data while the given back tokens are being deleted: they are dead all the same', async () => {
  const { given, goBack } = await givenBack();
  await restartRedis();
  await goBack();
  let answers = 0;
  let loss = Promise.resolve();
  auth.account.onAnswered = () => {
    answers += 1;
    // Between the client's record and its second page, a master without these writes takes over.
    if (answers === 3) loss = restartRedis().then(goBack);
  };
  const first = given[0] ?? '';
  await waitFor(async () => (await postIntrospection(auth.service, { token: first })).status === 200);
  auth.account.onAnswered = () => undefined;
  expect(answers).toBeGreaterThanOrEqual(3);
  await loss;
  expect(await activeOf(given)).toEqual(given.map(() => false));
});

test('Postgres restored from a backup older than a revocation: account takes it over, and all is answered', async () => {
  const client = addClient(auth.account);
  const old = await obtainToken(auth.service, client);
  const backup = auth.account.clients.get(client.client_id) ?? client.record;
  await revokeTokens(auth, client);
  const late = await obtainToken(auth.service, client);
  auth.account.clients.set(client.client_id, backup);
  const goBack = await snapshot();
  await restartRedis();
  await goBack();
  expect(await activeOf([old, late])).toEqual([false, true]);
  const known = { client_id: client.client_id, revocation_epoch: 1 };
  expect(auth.account.recovered.filter(({ client_id }) => client_id === client.client_id)).toEqual([known]);
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
  expect(auth.service.logs()).toContain('Postgres has lost a revocation');
});

function tokenKey({ client_id }: TestClient, token: string): string {
  return `auth:{${applicationPart(client_id)}}:token:${accessTokenHash(token)}`;
}
