import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hmacSecret, newClientSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../../test/suite/auth-under-test.ts';
import { obtainToken, postToken, tokenForm } from '../../../test/suite/requests.ts';
import { flush, keysOf, onMasters } from '../../../test/suite/store.ts';

const peppers = pepperSetting.parse(clientSecretPeppers);

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth();
});

afterAll(() => auth.close());

/** Without the date and the request id. */
async function wholeAnswer(response: Response) {
  const headers = [...response.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status: response.status, headers, body: await response.text() };
}

async function refused(form: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await wholeAnswer(await postToken(auth.service, form, headers));
  expect(answer.status).toBe(401);
  return answer;
}

test('an unknown client, a wrong secret and a revoked application get the same answer to the byte', async () => {
  const good = addClient(auth.account);
  const revoked = addClient(auth.account, { status: 'revoked' });
  const revokedWithoutSecrets = addClient(auth.account, { status: 'revoked', secrets: [] });
  const withoutSecrets = addClient(auth.account, { secrets: [] });
  const expired = addClient(auth.account);
  expired.record.secrets[0] = {
    ...hmacSecret(expired.client_secret, peppers),
    expires_at: new Date(Date.now() - 1).toISOString(),
  };
  const { client_secret, ...noSecret } = tokenForm(good);
  const basic = `Basic ${Buffer.from(`${good.client_id}:wrong`).toString('base64')}`;

  const wrongSecret = await refused({ ...tokenForm(good), client_secret: 'wrong' });
  expect(wrongSecret.body).toBe(
    '{"error":"invalid_client","error_description":"Client authentication failed."}',
  );
  expect(wrongSecret.headers).toEqual(
    expect.arrayContaining([
      ['www-authenticate', 'Basic realm="tollgate"'],
      ['cache-control', 'no-store'],
      ['pragma', 'no-cache'],
    ]),
  );
  const others = [
    await refused(tokenForm({ client_id: randomUUID(), client_secret: newClientSecret() })),
    await refused(tokenForm(revoked)),
    await refused(tokenForm(revokedWithoutSecrets)),
    await refused(tokenForm(withoutSecrets)),
    await refused(tokenForm(expired)),
    await refused({ ...tokenForm(good), client_id: 'no-uuid' }),
    await refused({ ...tokenForm(good), client_id: good.client_id.toUpperCase() }),
    await refused({ ...tokenForm(good), client_secret: `${client_secret ?? ''} ` }),
    await refused(noSecret),
    await refused({ grant_type: 'client_credentials', scope: 'api' }, { authorization: basic }),
  ];
  for (const other of others) expect(other).toEqual(wrongSecret);
});

test('missing or unusable client authentication gets that same answer, and counts for nothing', async () => {
  const { client_id, client_secret } = addClient(auth.account);
  const grant = { grant_type: 'client_credentials', scope: 'api' };
  const basic = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString('base64')}`;
  const wrong = await refused({ ...grant, client_id, client_secret: 'wrong' });
  const headers = [
    'Basic',
    'Basic !!!!',
    `Bearer ${client_secret}`,
    'Digest username="x"',
    'Negotiate',
    '',
    basic(client_id),
    basic(':'),
    basic(`${client_id}:`),
    basic(`:${client_secret}`),
    basic(`${client_id}:100%`),
    basic(`${client_id}:a%00`),
    basic(Buffer.from([0x61, 0x3a, 0xff])),
  ];
  await flush(auth);
  for (const authorization of headers) expect(await refused(grant, { authorization })).toEqual(wrong);
  const forms = [
    {},
    { client_secret },
    { client_id: '', client_secret },
    { client_id: 'x'.repeat(256), client_secret },
    { client_id: 'ünknown', client_secret },
    { client_id, client_secret: 'x'.repeat(1_025) },
    { client_id, client_secret: 'line\nbreak' },
  ];
  for (const form of forms) expect(await refused({ ...grant, ...form })).toEqual(wrong);
  // curl --anyauth sends this first.
  expect(await wholeAnswer(await postToken(auth.service, ''))).toEqual(wrong);
  expect(await keysOf(auth, '*')).toEqual([]);
});

test('a client without its secret gets that same answer: only public clients have none', async () => {
  const { client_id } = addClient(auth.account);
  const grant = { grant_type: 'client_credentials', scope: 'api' };
  const wrong = await refused({ ...grant, client_id, client_secret: 'wrong' });
  const forms = [
    { client_id },
    // RFC 6749, section 3.2: as if it were left out.
    { client_id, client_secret: '' },
    { client_id, client_assertion: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln' },
  ];
  for (const form of forms) {
    expect(await refused({ ...grant, ...form })).toEqual(wrong);
  }
});

test('one client’s secret opens no other client', async () => {
  const [one, other] = [addClient(auth.account), addClient(auth.account)];
  await refused(tokenForm({ client_id: one.client_id, client_secret: other.client_secret }));
});

test('a secret stops at its end, though the record is cached', async () => {
  const client = addClient(auth.account);
  const expiresAt = Date.now() + 1_000;
  client.record.secrets = [
    { ...hmacSecret(client.client_secret, peppers), expires_at: new Date(expiresAt).toISOString() },
  ];
  await obtainToken(auth.service, client);
  let status = 200;
  while (status === 200 && Date.now() < expiresAt + 5_000) {
    status = (await postToken(auth.service, tokenForm(client))).status;
  }
  expect(status).toBe(401);
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
  expect(auth.account.requests.filter((path) => path.endsWith(client.client_id))).toHaveLength(1);
});

test('a client id that can’t be one is looked up neither in account nor in Redis', async () => {
  const asked = auth.account.requests.length;
  await onMasters(auth, (master) => master.config('RESETSTAT'));
  const { client_id, client_secret } = addClient(auth.account);
  const ids = ['x', '../accounts/1', `${client_id}/..`, `{${client_id}}`, client_id.toUpperCase()];
  for (const id of [...ids, client_id.replaceAll('-', ''), `${client_id}0`, '%']) {
    await refused(tokenForm({ client_id: id, client_secret }));
  }
  expect(auth.account.requests).toHaveLength(asked);
  const stats = await onMasters(auth, (master) => master.info('commandstats'));
  expect(stats.join('\n')).not.toMatch(/cmdstat_(get|set)/);
});

test('an unknown client is asked for once while the cache lasts', async () => {
  const client_id = randomUUID();
  const form = tokenForm({ client_id, client_secret: newClientSecret() });
  await Promise.all(Array.from({ length: 20 }, () => refused(form)));
  await refused(form);
  expect(auth.account.requests.filter((path) => path.endsWith(client_id))).toHaveLength(1);
});

test('a refused client leaves no token behind', async () => {
  await flush(auth);
  await refused(tokenForm(addClient(auth.account, { status: 'revoked' })));
  expect(await keysOf(auth, '*:token:*')).toEqual([]);
});
