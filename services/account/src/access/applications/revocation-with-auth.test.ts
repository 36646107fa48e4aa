import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { makeApplication, operate, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { getUsage, obtainToken } from '../../../test/suite/requests.ts';

/** With the real auth: operator → Postgres → outbox → auth → caches. */

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
});

afterAll(async () => {
  await suite.close();
});

async function newCaller() {
  const account_id = await insertAccount(suite.database);
  await insertPeriod(suite.database, account_id);
  const application = await makeApplication(suite.account, account_id);
  const token = await obtainToken(suite.auth, application);
  expect(await usageStatus(token)).toBe(200);
  return { ...application, token };
}

const usageStatus = async (token: string) => (await getUsage(suite.account, token)).status;

async function rotate(path: string) {
  const { body } = await operate(suite.account, 'POST', `${path}/rotate-secret`, { overlap_sec: 3_600 });
  return body as { client_id: string; client_secret: string };
}

test('a rotation keeps the old secret and the tokens, and a new secret works at once', async () => {
  const { path, client_id, client_secret, token } = await newCaller();
  const rotated = await rotate(path);
  await obtainToken(suite.auth, rotated);
  await obtainToken(suite.auth, { client_id, client_secret });
  expect(await usageStatus(token)).toBe(200);
});

test('a revocation kills the tokens and the credentials at once, and a rotation revives neither', async () => {
  const { path, token, ...old } = await newCaller();
  expect((await operate(suite.account, 'POST', `${path}/revoke`)).body['delivered']).toBe(true);
  await waitFor(async () => (await usageStatus(token)) === 401);
  await expect(obtainToken(suite.auth, old)).rejects.toThrow('401');
  const rotated = await rotate(path);
  expect(await usageStatus(await obtainToken(suite.auth, rotated))).toBe(200);
  expect(await usageStatus(token)).toBe(401);
  await expect(obtainToken(suite.auth, old)).rejects.toThrow('401');
});

test('a deletion kills the tokens and the credentials at once', async () => {
  const { path, token, ...old } = await newCaller();
  expect((await operate(suite.account, 'DELETE', path)).status).toBe(204);
  await waitFor(async () => (await usageStatus(token)) === 401);
  await expect(obtainToken(suite.auth, old)).rejects.toThrow('401');
});

test('an auth that was away during the revocation learns of it when it is back; the token is dead meanwhile', async () => {
  const { path, token } = await newCaller();
  await suite.auth.kill();
  expect((await operate(suite.account, 'POST', `${path}/revoke`)).body).toMatchObject({
    status: 'revoked',
    delivered: true,
  });
  expect(await usageStatus(token)).toBe(401);
  await suite.auth.restart();
  await waitFor(async () => (await usageStatus(token)) === 401);
});

test('a Redis that was away during the revocation holds it up, and the token is dead when it is back', async () => {
  const { path, client_id, token } = await newCaller();
  await suite.redis.kill();
  const { body } = await operate(suite.account, 'POST', `${path}/revoke`);
  expect(body).toMatchObject({ status: 'revoked', delivered: false });
  await suite.redis.restart();
  await waitFor(async () => (await usageStatus(token)) === 401);
  await waitFor(async () => (await suite.database('client_change_outbox').where({ client_id })).length === 0);
  expect(await usageStatus(await obtainToken(suite.auth, await rotate(path)))).toBe(200);
  expect(await usageStatus(token)).toBe(401);
});

test('tokens that are being issued while the application is revoked are dead, too', async () => {
  const { path, token, ...application } = await newCaller();
  const tokens: string[] = [token];
  let revoked = false;
  const issuers = Array.from({ length: 4 }, async () => {
    while (!revoked) {
      const issued = await obtainToken(suite.auth, application).catch(() => undefined);
      if (issued !== undefined) tokens.push(issued);
    }
  });
  try {
    await waitFor(() => tokens.length > 20);
    expect((await operate(suite.account, 'POST', `${path}/revoke`)).body['delivered']).toBe(true);
  } finally {
    revoked = true;
  }
  await Promise.all(issuers);
  await rotate(path);
  for (const issued of tokens) {
    await waitFor(async () => (await usageStatus(issued)) === 401);
  }
});

test('a token that its client gives back stays dead when Redis goes back to a time before', async () => {
  const { token, path, ...application } = await newCaller();
  const { client_id, client_secret } = application;
  const kept = await obtainToken(suite.auth, application);
  const [key = ''] = await suite.store.keys(`auth:*:token:${accessTokenHash(token)}`);
  const stored = await suite.store.dumpBuffer(key);
  const response = await fetch(`${suite.auth.publicUrl}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, client_secret, token }),
  });
  expect(response.status).toBe(200);
  await suite.redis.kill();
  await suite.redis.restart();
  await waitFor(() => suite.store.status === 'ready');
  await suite.store.restore(key, 60_000, stored, 'REPLACE');
  await waitFor(async () => (await usageStatus(kept)) === 200);
  expect(await usageStatus(token)).toBe(401);
  expect(await suite.store.exists(key)).toBe(0);
  expect((await operate(suite.account, 'GET', path)).body['status']).toBe('active');
});

test('a Postgres that has lost a revocation takes it over from auth: old tokens and secrets stay dead', async () => {
  const { token, path, application_id, ...old } = await newCaller();
  const backup = await suite.database('application_secrets').where({ application_id });
  await operate(suite.account, 'POST', `${path}/revoke`);
  const late = await obtainToken(suite.auth, await rotate(path));
  await waitFor(
    async () => (await suite.database('client_change_outbox').where({ application_id })).length === 0,
  );
  // What a restored backup leaves.
  await suite.database('application_secrets').where({ application_id }).delete();
  await suite.database('application_secrets').insert(
    backup.map(({ pepper_id, hmac, expires_at }: Record<string, unknown>) => ({
      application_id,
      pepper_id,
      hmac,
      expires_at,
    })),
  );
  await suite.database('applications').where({ application_id }).update({ revocation_epoch: 0 });
  // Makes auth look the client up now, and not when its record is a minute old.
  await suite.store.del(...(await suite.store.keys(`auth:{${applicationPart(old.client_id)}}:client`)));
  const outcomes: string[] = [];
  await waitFor(async () => {
    outcomes.push(await obtainToken(suite.auth, old).then(() => 'a token', String));
    return (await operate(suite.account, 'GET', path)).body['status'] === 'revoked';
  });
  expect(outcomes.filter((outcome) => !outcome.includes('401'))).toEqual([]);
  expect([await usageStatus(token), await usageStatus(late)]).toEqual([401, 200]);
  expect(await usageStatus(await obtainToken(suite.auth, await rotate(path)))).toBe(200);
});
