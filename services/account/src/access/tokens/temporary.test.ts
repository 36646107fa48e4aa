import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { unlessBusy } from '@tollgate/testbed/unless-busy';
import { operate } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { insertAccount } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { temporaryToken } from '../../../test/suite/tokens.ts';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount();
});

afterAll(async () => {
  await suite.close();
});

type Made = { access_token: string; expires_at: string };

async function temporary(accountId: number): Promise<Made> {
  const { status, body } = await temporaryToken(suite.account, accountId);
  expect(status).toBe(200);
  return body as Made;
}

const applicationsOf = (account_id: number) =>
  suite
    .database('applications')
    .where({ account_id })
    .select<{ application_id: number; client_id: string }[]>();

test('it is the same for its twelve hours, then another, of one application', async () => {
  const account_id = await insertAccount(suite.database);
  const first = await temporary(account_id);
  const lifeMs = Date.parse(first.expires_at) - Date.now();
  expect(lifeMs).toBeGreaterThan(43_200_000 - 60_000);
  expect(lifeMs).toBeLessThanOrEqual(43_200_000);
  expect(await temporary(account_id)).toEqual(first);
  await suite
    .database('access_tokens')
    .where({ token_hash: accessTokenHash(first.access_token) })
    .update({ issued_at: new Date(Date.now() - 43_200_000), expires_at: new Date(Date.now() - 1) });
  const second = await temporary(account_id);
  expect(second.access_token).not.toBe(first.access_token);
  expect(await temporary(account_id)).toEqual(second);
  expect(await applicationsOf(account_id)).toHaveLength(1);
});

test('of any number of first requests at once, over replicas, all get the one token', async () => {
  const replica = await suite.startReplica();
  for (let round = 0; round < 3; round += 1) {
    const account_id = await insertAccount(suite.database);
    const answers = await Promise.all(
      [suite.account, replica, suite.account, replica, suite.account, replica].map((account) =>
        unlessBusy(() => temporaryToken(account, account_id)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body['access_token'])).size).toBe(1);
    const [application, ...more] = await applicationsOf(account_id);
    expect(more).toEqual([]);
    const tokens = await suite
      .database('access_tokens')
      .where({ application_id: application?.application_id });
    expect(tokens).toHaveLength(1);
  }
});

test('revoked, the next one is another, also where the whole application was revoked', async () => {
  const account_id = await insertAccount(suite.database);
  const first = await temporary(account_id);
  expect((await temporaryToken(suite.account, account_id, 'DELETE')).body).toEqual({ delivered: true });
  const second = await temporary(account_id);
  expect(second.access_token).not.toBe(first.access_token);
  await suite
    .database('applications')
    .where({ account_id })
    .update({ status: 'revoked', revocation_epoch: 1 });
  const third = await temporary(account_id);
  expect(new Set([first, second, third].map(({ access_token }) => access_token)).size).toBe(3);
  const [application] = await applicationsOf(account_id);
  const client = await getPrivate(suite.account, `/private/clients/${String(application?.client_id)}`);
  expect(await client.json()).toMatchObject({
    status: 'active',
    secrets: [],
    manual_tokens: [{ token_hash: accessTokenHash(third.access_token), epoch: 1 }],
  });
});

test('its application is in no endpoint of applications', async () => {
  const account_id = await insertAccount(suite.database);
  await temporary(account_id);
  const [application] = await applicationsOf(account_id);
  const path = `/${String(application?.application_id)}`;
  for (const [method, url, body] of [
    ['GET', path],
    ['DELETE', path],
    ['POST', `${path}/revoke`],
    ['POST', `${path}/rotate-secret`, { overlap_sec: 0 }],
    ['GET', `${path}/tokens`],
    ['POST', `${path}/tokens`, { name: 'T' }],
    ['POST', `${path}/tokens/1/copy`],
  ] as const) {
    expect([method, url, (await operate(suite.account, method, url, body)).status]).toEqual([
      method,
      url,
      404,
    ]);
  }
});

test('a blocked account gets none, an unknown one is 404', async () => {
  const account_id = await insertAccount(suite.database);
  await temporary(account_id);
  await suite.database('accounts').where({ account_id }).update({ blocked_at: new Date() });
  const { status, body } = await temporaryToken(suite.account, account_id);
  expect([status, body['code']]).toEqual([403, 'account_blocked']);
  for (const method of ['POST', 'DELETE']) {
    expect((await temporaryToken(suite.account, 999_999_999, method)).status).toBe(404);
  }
});
