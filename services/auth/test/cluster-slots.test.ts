import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, startAuth } from './suite/auth-under-test.ts';
import type { AuthUnderTest } from './suite/auth-under-test.ts';
import { isActive, obtainToken, postToken, postClientChange, tokenForm } from './suite/requests.ts';

let auth: AuthUnderTest;

/** A Redis in cluster mode that has all slots: it refuses any command whose keys aren't in one slot. */
beforeAll(async () => {
  const settings = { FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '2', MAX_LIVE_TOKENS_PER_APPLICATION: '1' };
  auth = await startAuth(settings, ['cluster-enabled yes'], async (store) => {
    await store.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitFor(async () => String(await store.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  });
});

afterAll(() => auth.close());

test('this Redis does refuse keys of two slots', async () => {
  await expect(auth.store.mget('a', 'b')).rejects.toThrow('CROSSSLOT');
});

test('every command of auth keeps to one slot of a Redis Cluster', async () => {
  const client = addClient(auth.account);
  const surplus = await obtainToken(auth.service, client);
  const revoked = await obtainToken(auth.service, client);
  expect([await isActive(auth.service, surplus), await isActive(auth.service, revoked)]).toEqual([
    false,
    true,
  ]);

  const revocation = await fetch(`${auth.service.publicUrl}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ ...tokenForm(client), token: revoked }),
  });
  expect(revocation.status).toBe(200);
  const token = await obtainToken(auth.service, client);
  expect([await isActive(auth.service, revoked), await isActive(auth.service, token)]).toEqual([false, true]);

  client.record.revocation_epoch = 1;
  const change = await postClientChange(auth.service, client.client_id, { revocation_epoch: 1 });
  expect(change.status).toBe(204);
  expect(await isActive(auth.service, token)).toBe(false);
  expect(await isActive(auth.service, await obtainToken(auth.service, client))).toBe(true);

  const stranger = tokenForm({ client_id: randomUUID(), client_secret: 'x' });
  const statuses = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    statuses.push((await postToken(auth.service, stranger)).status);
  }
  expect(statuses).toEqual([401, 401, 429]);
});
