import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { CLIENT_CHANGE_CHANNEL } from '@tollgate/contracts/client-change';
import { waitFor } from '@tollgate/stack/wait-for';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import {
  isActive,
  obtainToken,
  postIntrospection,
  postToken,
  postClientChange,
  tokenForm,
} from '../../../test/suite/requests.ts';
import { commitChange, revokeTokens } from '../../../test/suite/revoke.ts';
import { subscribe } from '../../../test/suite/subscribe.ts';
import { configure, keysOf } from '../../../test/suite/store.ts';

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

afterAll(() => auth.close());

function epochOf(clientId: string): Promise<string | null> {
  return auth.store.hget(`auth:{${applicationPart(clientId)}}:epoch`, 'epoch');
}

function tokenKey(clientId: string, token: string): string {
  return `auth:{${applicationPart(clientId)}}:token:${accessTokenHash(token)}`;
}

test('after the delivery all older tokens are inactive, newer ones and other clients’ are not', async () => {
  const [client, other] = [addClient(auth.account), addClient(auth.account)];
  const old = await Promise.all([1, 2, 3].map(() => obtainToken(auth.service, client)));
  const others = await obtainToken(auth.service, other);
  await revokeTokens(auth, client);
  const later = await obtainToken(auth.service, client);
  for (const token of old) expect(await isActive(auth.service, token)).toBe(false);
  expect(await isActive(auth.service, later)).toBe(true);
  expect(await isActive(auth.service, others)).toBe(true);
  // Dead tokens leave Redis when they are introspected.
  expect(await keysOf(auth, `auth:{${applicationPart(client.client_id)}}:token:*`)).toHaveLength(1);
});

test('a revoked application’s credentials stop working with the delivery, though its record was cached', async () => {
  const client = addClient(auth.account);
  await obtainToken(auth.service, client);
  commitChange(auth, client, { status: 'revoked', revocation_epoch: 1, secrets: [] });
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 1 });
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
});

test('a change without a new epoch drops the record all the same: an old secret ends, tokens live on', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const client_secret = newClientSecret();
  const secret = hmacSecret(client_secret, pepperSetting.parse(clientSecretPeppers));
  commitChange(auth, client, { secrets: [{ ...secret, expires_at: null }] });
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 0 });
  expect((await postToken(auth.service, tokenForm(client))).status).toBe(401);
  await obtainToken(auth.service, { ...client, client_secret });
  expect(await isActive(auth.service, token)).toBe(true);
});

test('a record that was on its way when the client changed is neither used nor kept', async () => {
  const client = addClient(auth.account);
  const path = `/private/clients/${client.client_id}`;
  const release = auth.account.hold();
  const underWay = postToken(auth.service, tokenForm(client));
  await waitFor(() => auth.account.requests.filter((asked) => asked === path).length === 1);
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 1 });
  release();
  // account has lost a revocation and still has epoch 0; auth knows a later one and sends it.
  expect((await underWay).status).toBe(401);
  expect(auth.account.recovered).toContainEqual({ client_id: client.client_id, revocation_epoch: 1 });
  commitChange(auth, client, client.record);
  commitChange(auth, client, { revocation_epoch: 1 });
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 1 });
  expect(await isActive(auth.service, await obtainToken(auth.service, client))).toBe(true);
});

test('what a change has ended is told on the channel where account says it', async () => {
  const { client_id } = addClient(auth.account);
  const token_hash = 'A'.repeat(43);
  const told: unknown[] = [];
  const channel = { channel: CLIENT_CHANGE_CHANNEL, naming: client_id };
  const subscriber = await subscribe(auth, channel, (message) => told.push(JSON.parse(message)));
  try {
    const changes = [
      { change: 'application', client_id, revocation_epoch: 2 },
      { change: 'token', token_hash, client_id, revocation_epoch: 2 },
    ];
    for (const change of changes) {
      expect((await postClientChange(auth.service, client_id, change)).status).toBe(204);
    }
    await waitFor(() => told.length === 2);
    expect(told).toEqual(changes.map((change) => ({ ...change, source: 'auth' })));
  } finally {
    subscriber.close();
  }
});

test('what account publishes is taken over, and what auths publish is not', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const { client_id } = client;
  const message = { change: 'application', client_id, revocation_epoch: 1 };
  commitChange(auth, client, { revocation_epoch: 1 });
  await auth.store.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify({ ...message, source: 'auth' }));
  await auth.store.publish(CLIENT_CHANGE_CHANNEL, 'unreadable');
  await auth.store.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify({ ...message, source: 'account' }));
  await waitFor(async () => !(await isActive(auth.service, token)));
  expect(await epochOf(client_id)).toBe('1');
  // A revoked manual token makes auth read the list again.
  await obtainToken(auth.service, client);
  const before = auth.account.requests.length;
  const revoked = { ...message, change: 'token', token_hash: 'A'.repeat(43), source: 'account' };
  await auth.store.publish(CLIENT_CHANGE_CHANNEL, JSON.stringify(revoked));
  await waitFor(async () => {
    await obtainToken(auth.service, client);
    return auth.account.requests.length > before;
  });
});

test('a delivery makes every look-up under way ask again, also where the epoch is the same', async () => {
  const client = addClient(auth.account);
  const path = `/private/clients/${client.client_id}`;
  const times = () => auth.account.requests.filter((asked) => asked === path).length;
  const release = auth.account.hold();
  const underWay = postToken(auth.service, tokenForm(client));
  await waitFor(() => times() === 1);
  await postClientChange(auth.service, client.client_id, { revocation_epoch: 0 });
  // A request after the delivery doesn't share the earlier answer.
  const later = postToken(auth.service, tokenForm(client));
  await waitFor(() => times() === 2);
  release();
  expect([(await underWay).status, (await later).status]).toEqual([200, 200]);
  expect(times()).toBe(2);
});

test('deliveries may be repeated and come in any order', async () => {
  const client = addClient(auth.account);
  for (const [revocation_epoch, known] of [
    [5, '5'],
    [5, '5'],
    [3, '5'],
    [6, '6'],
    [0, '6'],
  ] as const) {
    const response = await postClientChange(auth.service, client.client_id, { revocation_epoch });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(await epochOf(client.client_id)).toBe(known);
  }
});

test('it is told on the channel, after the new epoch is there', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  const { promise: told, resolve } = Promise.withResolvers<[string, boolean]>();
  const channel = { channel: CLIENT_CHANGE_CHANNEL, naming: client.client_id };
  const subscriber = await subscribe(auth, channel, (message) => {
    void isActive(auth.service, token).then((active) => {
      resolve([message, active]);
    });
  });
  try {
    await revokeTokens(auth, client);
    const [message, active] = await told;
    const { client_id } = client;
    const change = { change: 'application', client_id, revocation_epoch: 1, source: 'auth' };
    expect(JSON.parse(message)).toEqual(change);
    expect(active).toBe(false);
  } finally {
    subscriber.close();
  }
});

test('a Redis that is full takes revocations', async () => {
  const client = addClient(auth.account);
  const token = await obtainToken(auth.service, client);
  await configure(auth, 'maxmemory', '1');
  try {
    await revokeTokens(auth, client);
    // The token is deleted, and whether it is a manual one can't be noted there.
    expect((await postIntrospection(auth.service, { token })).status).toBe(503);
  } finally {
    await configure(auth, 'maxmemory', '0');
  }
  expect(await isActive(auth.service, token)).toBe(false);
});

test('revoked while tokens are issued and introspected: whatever was issued before is dead, 60 rounds', async () => {
  const client = addClient(auth.account);
  const statuses = new Set<number>();
  for (let round = 0; round < 60; round += 1) {
    const before = await obtainToken(auth.service, client);
    const during = Array.from({ length: 4 }, async () => {
      const response = await postToken(auth.service, tokenForm(client));
      statuses.add(response.status);
      return ((await response.json()) as { access_token?: string }).access_token;
    });
    const asked = Array.from({ length: 4 }, () => isActive(auth.service, before));
    await revokeTokens(auth, client);
    expect(await isActive(auth.service, before)).toBe(false);
    await Promise.all(asked);
    const epoch = Number(await epochOf(client.client_id));
    for (const token of await Promise.all(during)) {
      if (token === undefined) continue;
      // A token of the race has the old epoch and is dead, or the new one and is active.
      const stored = await auth.store.get(tokenKey(client.client_id, token));
      const issuedUnder = stored === null ? -1 : (JSON.parse(stored) as { epoch: number }).epoch;
      expect(await isActive(auth.service, token)).toBe(issuedUnder === epoch);
    }
    expect(await isActive(auth.service, before)).toBe(false);
  }
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
});

test('malformed requests are refused and change nothing', async () => {
  const client = addClient(auth.account);
  const bodies = [
    '',
    '{',
    '[]',
    '1',
    'null',
    {},
    { revocation_epoch: '1' },
    { revocation_epoch: -1 },
    { revocation_epoch: 1.5 },
    { revocation_epoch: 2 ** 53 },
    { revocation_epoch: 1, more: true },
    { revocation_epoch: 1, change: 'other' },
    { revocation_epoch: 1, change: 'token' },
  ];
  for (const body of bodies) {
    const response = await postClientChange(auth.service, client.client_id, body);
    expect([body, response.status]).toEqual([body, 400]);
    expect(await response.json()).toMatchObject({ code: 'invalid_request' });
  }
  for (const id of ['x', '%zz', randomUUID().slice(1), `${randomUUID()}%00`]) {
    expect((await postClientChange(auth.service, id, { revocation_epoch: 1 })).status).toBe(400);
  }
  const form = { 'content-type': 'text/plain' };
  expect((await postClientChange(auth.service, client.client_id, '{}', form)).status).toBe(415);
  const large = `{"revocation_epoch":1${' '.repeat(2_000)}}`;
  expect((await postClientChange(auth.service, client.client_id, large)).status).toBe(413);
  expect(await epochOf(client.client_id)).toBeNull();
});

test('only a service credential may, and only by POST', async () => {
  const client = addClient(auth.account);
  for (const authorization of [
    '',
    'Bearer x',
    `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}`,
  ]) {
    const headers = { authorization };
    const response = await postClientChange(auth.service, client.client_id, { revocation_epoch: 1 }, headers);
    expect(response.status).toBe(401);
  }
  const url = '/private/client-changes';
  expect((await fetch(auth.service.publicUrl + url, { method: 'POST' })).status).toBe(404);
  expect(await epochOf(client.client_id)).toBeNull();
});
