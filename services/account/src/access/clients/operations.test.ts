import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { matchesSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import { clientAnswerSchema } from '@tollgate/contracts/client-record';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertApplication,
  insertSecret,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

async function client(clientId: string) {
  const response = await getPrivate(suite.account, `/private/clients/${clientId}`);
  expect(response.status).toBe(200);
  return clientAnswerSchema.strict().parse(await response.json());
}

describe('GET /private/clients/{client_id}', () => {
  test('tells auth what it needs, by the contract, and never a secret', async () => {
    const account_id = await insertAccount(suite.database);
    const { client_id, client_secret, application_id } = await insertApplication(suite.database, account_id, {
      token_lifespan_sec: 3_153_600_000,
      revocation_epoch: 3,
    });
    const record = await client(client_id);
    expect(record).toMatchObject({
      client_id,
      application_id,
      account_id,
      status: 'active',
      token_lifespan_sec: 3_153_600_000,
      revocation_epoch: 3,
      secrets: [{ pepper_id: 'p1', expires_at: null }],
    });
    expect(matchesSecret(client_secret, record.secrets, pepperSetting.parse(clientSecretPeppers))).toBe(true);
    expect(JSON.stringify(record)).not.toContain(client_secret);
  });

  test('only live secrets are told, the newest two', async () => {
    const { client_id, application_id } = await insertApplication(
      suite.database,
      await insertAccount(suite.database),
    );
    await insertSecret(suite.database, application_id, secondsFromNow(-1));
    const overlap = secondsFromNow(3_600);
    await suite.database('application_secrets').where({ expires_at: null }).update({ expires_at: overlap });
    await insertSecret(suite.database, application_id, null);
    const { secrets } = await client(client_id);
    expect(secrets.map(({ expires_at }) => expires_at)).toEqual([null, overlap.toISOString()]);
    await insertSecret(suite.database, application_id, null);
    expect((await client(client_id)).secrets.map(({ expires_at }) => expires_at)).toEqual([null, null]);
  });

  test('a client without a live secret is a client all the same', async () => {
    const { client_id, application_id } = await insertApplication(
      suite.database,
      await insertAccount(suite.database),
    );
    await suite.database('application_secrets').where({ application_id }).delete();
    expect((await client(client_id)).secrets).toEqual([]);
  });

  test('a revoked client is told as revoked', async () => {
    const account_id = await insertAccount(suite.database);
    const { client_id } = await insertApplication(suite.database, account_id, { status: 'revoked' });
    expect((await client(client_id)).status).toBe('revoked');
  });

  test('a deleted client, an unknown one and an id that is none are 404', async () => {
    const account_id = await insertAccount(suite.database);
    const { client_id } = await insertApplication(suite.database, account_id, { status: 'deleted' });
    for (const id of [client_id, randomUUID(), 'x', '1', "'%20OR%201=1", '%00']) {
      const response = await getPrivate(suite.account, `/private/clients/${id}`);
      expect([id, response.status]).toEqual([id, 404]);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    }
  });

  test('an id that is no text at all is 400', async () => {
    const response = await getPrivate(suite.account, '/private/clients/%zz');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_request' });
  });

  test('without the service credential it is 401, whatever the client', async () => {
    for (const headers of [
      {},
      { authorization: 'Basic dGVzdGJlZDp3cm9uZw==' },
      { authorization: 'Bearer x' },
    ]) {
      const path = `/private/clients/${randomUUID()}`;
      const response = await getPrivate(suite.account, path, headers);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Basic');
    }
  });

  test('nothing else is told without it either', async () => {
    const response = await fetch(`${suite.account.privateUrl}/private/clients/${randomUUID()}`, {
      method: 'POST',
    });
    expect(response.status).toBe(401);
  });
});
