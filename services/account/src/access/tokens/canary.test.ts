import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { tokenSealingKeys } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { makeApplication, operate, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount } from '../../../test/suite/database/records.ts';
import { getUsage } from '../../../test/suite/requests.ts';
import { makeToken, temporaryToken } from '../../../test/suite/tokens.ts';

/** A manual token's value appears only in the responses that return it, also after failures. */

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, LOG_LEVEL: 'trace' },
  });
});

afterAll(async () => {
  await suite.close();
});

async function database(): Promise<string> {
  const tables = await suite
    .database('pg_tables')
    .where({ schemaname: 'public' })
    .pluck<string[]>('tablename');
  const rows = await Promise.all(
    tables.map((table) =>
      suite.database(table).select(suite.database.raw('row_to_json(??.*) AS row', table)),
    ),
  );
  return JSON.stringify(rows);
}

async function redis(): Promise<string> {
  const keys = await suite.store.keys('*');
  // Null for a key that has expired meanwhile.
  const dump = (key: string): Promise<Buffer | null> => suite.store.dumpBuffer(key);
  const values = (await Promise.all(keys.map(dump))).filter((value) => value !== null);
  return keys.join() + Buffer.concat(values).toString('latin1');
}

async function expectNowhere(tokens: readonly string[]): Promise<void> {
  const metrics = (service: AccountUnderTest['account']) => fetch(`${service.privateUrl}/metrics`);
  const places = {
    logs: suite.account.logs() + suite.auth.logs(),
    database: await database(),
    redis: await redis(),
    metrics: (await (await metrics(suite.account)).text()) + (await (await metrics(suite.auth)).text()),
  };
  const [, sealingKey = ''] = tokenSealingKeys.split(':');
  const found = Object.entries(places).flatMap(([place, text]) =>
    [...tokens.map((token) => token.slice(-49)), sealingKey].flatMap((secret) =>
      [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64').slice(0, -4)].some(
        (form) => text.includes(form),
      )
        ? [place]
        : [],
    ),
  );
  expect(found).toEqual([]);
}

test('issued, copied, used, refused, revoked, and with Redis away: it leaks nowhere', async () => {
  const { account } = suite;
  const account_id = await insertAccount(suite.database);
  const { path } = await makeApplication(account, account_id);
  const token = await makeToken(account, path);
  const { body } = await temporaryToken(account, account_id);
  const tokens = [token.access_token, String(body['access_token'])];
  expect(tokens[1]).toMatch(/^tg_/);
  await operate(account, 'POST', `${token.path}/copy`);
  for (const each of tokens) await (await getUsage(account, each)).text();
  // No response repeats a misplaced token.
  const misplaced = [
    await operate(account, 'POST', `${path}/tokens`, { name: token.access_token, more: token.access_token }),
    await operate(account, 'POST', `${path}/tokens/${token.access_token}/copy`),
    await operate(account, 'GET', `${path}/tokens?cursor=${token.access_token}`),
  ];
  expect(misplaced.map(({ status }) => status)).toEqual([400, 404, 400]);
  for (const answer of misplaced)
    expect(JSON.stringify(answer.body)).not.toContain(token.access_token.slice(-49));

  await suite
    .database('access_tokens')
    .where({ token_id: token.token_id })
    .update({ sealing_key_id: 'lost' });
  const failed = await operate(account, 'POST', `${token.path}/copy`);
  expect([failed.status, failed.body['code']]).toEqual([500, 'internal_error']);
  await expectNowhere(tokens);

  await suite.redis.kill();
  const late = await makeToken(account, path);
  await operate(account, 'POST', `${token.path}/revoke`);
  await suite.redis.restart();
  await waitFor(() => suite.store.status === 'ready');
  expect((await operate(account, 'POST', `${token.path}/copy`)).status).toBe(409);
  await expectNowhere([...tokens, late.access_token]);
});
