import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, newAccessToken } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady } from '@tollgate/testbed/service-process';
import { addClient, addManualToken, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../test/suite/auth-under-test.ts';
import { isActive, obtainToken, postIntrospection, postClientChange } from '../../test/suite/requests.ts';
import { commitChange, revokeTokens } from '../../test/suite/revoke.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth({ MISS_LOOK_UPS_MAX_IN_FLIGHT: '4' });
});

beforeEach(() => {
  auth.account.mood = 'well';
});

afterAll(() => auth.close());

const deliver = ({ client_id }: TestClient) =>
  postClientChange(auth.service, client_id, {
    revocation_epoch: auth.account.clients.get(client_id)?.revocation_epoch ?? 0,
  });

async function issue(client: TestClient, lifespanSec?: number): Promise<string> {
  const token = addManualToken(auth.account, client, lifespanSec);
  await deliver(client);
  return token;
}

/** account doesn't notify auth yet. */
function commitRevocation(client: TestClient, token: string): void {
  const tokens = auth.account.clients.get(client.client_id)?.manual_tokens ?? [];
  const hash = accessTokenHash(token);
  commitChange(auth, client, { manual_tokens: tokens.filter(({ token_hash }) => token_hash !== hash) });
}

const asked = ({ client_id }: Pick<TestClient, 'client_id'>) =>
  auth.account.requests.filter((path) => path.endsWith(client_id)).length;

const scriptCalls = async () => {
  const stats = await auth.store.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
};

async function statusOf(token: string): Promise<number> {
  return (await postIntrospection(auth.service, { token })).status;
}

test('it is introspected as any other token, and the client’s issued ones go on', async () => {
  const client = addClient(auth.account);
  const issued = await obtainToken(auth.service, client);
  const token = await issue(client);
  const { client_id, application_id, account_id } = client.record;
  expect(await (await postIntrospection(auth.service, { token })).json()).toMatchObject({
    active: true,
    scope: 'api',
    client_id,
    application_id,
    account_id,
    sub: String(account_id),
    token_type: 'bearer',
    exp: expect.any(Number),
    iat: expect.any(Number),
  });
  expect(await isActive(auth.service, issued)).toBe(true);
});

test('once known, a hit is one round trip, and so is a miss; account isn’t asked for either', async () => {
  const client = addClient(auth.account);
  const token = await issue(client);
  const miss = newAccessToken('tg', client.client_id);
  expect([await isActive(auth.service, token), await isActive(auth.service, miss)]).toEqual([true, false]);
  const [calls, questions] = [await scriptCalls(), asked(client)];
  for (let time = 0; time < 10; time += 1) {
    expect(await isActive(auth.service, token)).toBe(true);
    expect(await isActive(auth.service, miss)).toBe(false);
  }
  expect([await scriptCalls(), asked(client)]).toEqual([calls + 20, questions]);
});

test('a change of the client leaves its issued tokens known without account; manual tokens wait for it', async () => {
  const client = addClient(auth.account);
  const issued = await obtainToken(auth.service, client);
  const token = await issue(client);
  auth.account.mood = 'away';
  expect(await isActive(auth.service, issued)).toBe(true);
  expect(await statusOf(token)).toBe(503);
  auth.account.mood = 'well';
  expect(await isActive(auth.service, token)).toBe(true);
});

test('it ends at its time', async () => {
  const client = addClient(auth.account);
  const token = await issue(client, 1);
  await waitFor(async () => !(await isActive(auth.service, token)));
  expect(await statusOf(token)).toBe(200);
});

test('one revoked is inactive when the delivery is answered, the others live on, also without account', async () => {
  const client = addClient(auth.account);
  const [token, other] = [await issue(client), await issue(client)];
  expect([await isActive(auth.service, token), await isActive(auth.service, other)]).toEqual([true, true]);
  commitRevocation(client, token);
  await deliver(client);
  expect([await isActive(auth.service, token), await isActive(auth.service, other)]).toEqual([false, true]);
  auth.account.mood = 'away';
  expect([await isActive(auth.service, token), await isActive(auth.service, other)]).toEqual([false, true]);
});

test('all of a revoked application’s are inactive at once, before account is asked', async () => {
  const client = addClient(auth.account);
  const token = await issue(client);
  expect(await isActive(auth.service, token)).toBe(true);
  await revokeTokens(auth, client);
  auth.account.mood = 'away';
  expect(await isActive(auth.service, token)).toBe(false);
});

test('FLUSHALL, and a restart of Redis: good ones stay good, revoked ones dead, issued ones are gone', async () => {
  const client = addClient(auth.account);
  const [token, revoked, issued] = [
    await issue(client),
    await issue(client),
    await obtainToken(auth.service, client),
  ];
  expect(await isActive(auth.service, revoked)).toBe(true);
  commitRevocation(client, revoked);
  await deliver(client);
  await auth.store.flushall();
  auth.account.mood = 'away';
  for (const each of [token, revoked, issued]) expect(await statusOf(each)).toBe(503);
  auth.account.mood = 'well';
  const answers = () => Promise.all([token, revoked, issued].map((each) => isActive(auth.service, each)));
  expect(await answers()).toEqual([true, false, false]);
  await auth.redis.kill();
  await auth.restartRedis();
  await becomeReady(auth.service);
  expect(await answers()).toEqual([true, false, false]);
});

test('a Redis that goes back to before the revocation doesn’t bring it back', async () => {
  const client = addClient(auth.account);
  const token = await issue(client);
  expect(await isActive(auth.service, token)).toBe(true);
  const key = `auth:{${applicationPart(client.client_id)}}:epoch`;
  const before = await auth.store.dumpBuffer(key);
  commitRevocation(client, token);
  await deliver(client);
  // Simulates a promoted replica that missed the last writes.
  await auth.store.replicaof('127.0.0.1', 9);
  await auth.store.replicaof('NO', 'ONE');
  await auth.store.restore(key, 0, before, 'REPLACE');
  expect(await isActive(auth.service, token)).toBe(false);
});

test('an answer that a revocation overtook is not noted', async () => {
  const client = addClient(auth.account);
  const token = await issue(client);
  const release = auth.account.hold();
  const before = asked(client);
  const underWay = isActive(auth.service, token);
  await waitFor(() => asked(client) === before + 1);
  // The answer under way still has the token; one requested after the delivery doesn't.
  const withToken = auth.account.clients.get(client.client_id);
  commitRevocation(client, token);
  await deliver(client);
  const without = auth.account.clients.get(client.client_id);
  if (withToken === undefined || without === undefined) throw new Error('no client');
  auth.account.clients.set(client.client_id, withToken);
  auth.account.onAnswered = () => {
    auth.account.clients.set(client.client_id, without);
  };
  release();
  expect(await underWay).toBe(false);
  expect(asked(client)).toBe(before + 2);
  auth.account.onAnswered = () => undefined;
  expect(await isActive(auth.service, token)).toBe(false);
});

test('introspected while it is revoked: inactive for everyone who asks after the delivery, 40 rounds', async () => {
  const client = addClient(auth.account);
  for (let round = 0; round < 40; round += 1) {
    const token = await issue(client);
    const during = Array.from({ length: 4 }, () => statusOf(token));
    commitRevocation(client, token);
    await deliver(client);
    expect(await isActive(auth.service, token)).toBe(false);
    for (const status of await Promise.all(during)) expect([200, 503]).toContain(status);
    expect(await isActive(auth.service, token)).toBe(false);
  }
});

test('FLUSHALL while many are introspected: never inactive', async () => {
  const clients = Array.from({ length: 3 }, () => addClient(auth.account));
  const tokens = await Promise.all(clients.map((client) => issue(client)));
  let flushing = true;
  const answers = new Set<string>();
  const callers = tokens.map(async (token) => {
    while (flushing) {
      const response = await postIntrospection(auth.service, { token });
      const { active } = (await response.json()) as { active?: boolean };
      answers.add(response.status === 200 ? String(active) : String(response.status));
    }
  });
  for (let time = 0; time < 30; time += 1) await auth.store.flushall();
  flushing = false;
  await Promise.all(callers);
  expect([...answers].filter((answer) => answer !== 'true' && answer !== '503')).toEqual([]);
  for (const token of tokens) expect(await isActive(auth.service, token)).toBe(true);
});

test('made-up applications: inactive; beyond the limit of look-ups 503, and never for those that are known', async () => {
  const client = addClient(auth.account);
  const token = await issue(client);
  expect(await isActive(auth.service, token)).toBe(true);
  const release = auth.account.hold();
  const strangers = Array.from({ length: 4 }, () => newAccessToken('tg', randomUUID()));
  const waiting = strangers.map(statusOf);
  const before = auth.account.requests.length;
  await waitFor(() => auth.account.requests.length >= before + 4 || strangersAsked() === 4);
  expect(await statusOf(newAccessToken('tg', randomUUID()))).toBe(503);
  // A second caller shares the look-up under way.
  const second = statusOf(strangers[0] ?? '');
  expect(await isActive(auth.service, token)).toBe(true);
  expect(await isActive(auth.service, newAccessToken('tg', client.client_id))).toBe(false);
  release();
  expect(await Promise.all([...waiting, second])).toEqual([200, 200, 200, 200, 200]);
  expect(await isActive(auth.service, newAccessToken('tg', randomUUID()))).toBe(false);
  for (const stranger of strangers) {
    expect(await auth.store.keys(`auth:{${stranger.split('_')[1] ?? ''}}:*`)).toEqual([]);
  }

  function strangersAsked(): number {
    const known = new Set(auth.account.clients.keys());
    return auth.account.requests.filter((path) => !known.has(path.split('/').at(-1) ?? '')).length;
  }
});

test('a Redis that is full takes the list of after a change', async () => {
  const client = addClient(auth.account);
  const [token, revoked] = [await issue(client), await issue(client)];
  expect(await isActive(auth.service, token)).toBe(true);
  await auth.store.config('SET', 'maxmemory', '1');
  try {
    commitRevocation(client, revoked);
    await deliver(client);
    expect(await statusOf(revoked)).not.toBe(401);
    expect(await (await postIntrospection(auth.service, { token: revoked })).json()).not.toMatchObject({
      active: true,
    });
  } finally {
    await auth.store.config('SET', 'maxmemory', '0');
  }
  expect([await isActive(auth.service, token), await isActive(auth.service, revoked)]).toEqual([true, false]);
});
