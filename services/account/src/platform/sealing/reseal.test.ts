import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { tokenSealingKeys } from '@tollgate/testbed/service-process';
import { newOwner } from '../../../test/suite/console.ts';
import { makeApplication, operate } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { runProgram } from '../../../test/suite/programs.ts';
import { makeToken } from '../../../test/suite/tokens.ts';
import { startReceiver } from '../../../test/suite/stand-ins/webhook-receiver.ts';
import { makeWebhook, sendTest } from '../../../test/suite/notifications/webhooks.ts';

const NEW_KEY = `k2:${randomBytes(32).toString('base64')}`;
const BOTH = `${NEW_KEY} ${tokenSealingKeys}`;

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount({
    settings: { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' },
  });
});

afterAll(async () => {
  await suite.close();
});

const reseal = (keys: string) =>
  runProgram('programs/reseal', { DATABASE_URL: suite.databaseUrl, TOKEN_SEALING_KEYS: keys });

const keyIds = async () => new Set(await suite.database('access_tokens').pluck<string[]>('sealing_key_id'));

async function copyOf(path: string): Promise<unknown> {
  return (await operate(suite.account, 'POST', `${path}/copy`)).body['access_token'];
}

test('a rotation, from the old key to the new one alone, loses no token and no secret of a webhook', async () => {
  const owner = await newOwner(suite);
  const receiver = await startReceiver();
  const webhook = await makeWebhook(owner, receiver.url);
  const { path } = await makeApplication(suite.account, suite.account_id);
  const tokens = [];
  for (let count = 0; count < 5; count += 1) tokens.push(await makeToken(suite.account, path));

  await suite.account.stop();
  await suite.account.restart({ TOKEN_SEALING_KEYS: BOTH });
  tokens.push(await makeToken(suite.account, path));
  expect(await keyIds()).toEqual(new Set(['k1', 'k2']));
  for (const token of tokens) expect(await copyOf(token.path)).toBe(token.access_token);

  // Two at once, and again: each token is sealed anew once.
  const outcomes = await Promise.all([reseal(BOTH), reseal(BOTH)]);
  const resealed = outcomes.map(({ stdout }) => Number(/"resealed":(\d+)/.exec(stdout)?.[1]));
  expect(resealed.reduce((sum, count) => sum + count, 0)).toBe(5);
  const last = await reseal(BOTH);
  expect([last.code, last.stdout]).toEqual([0, expect.stringContaining('"resealed":0')]);
  expect(await keyIds()).toEqual(new Set(['k2']));

  await suite.account.stop();
  await suite.account.restart({ TOKEN_SEALING_KEYS: NEW_KEY });
  await sendTest(owner, webhook);
  (await waitFor(() => receiver.received[0])).verify(webhook.secret);
  await receiver.close();
  for (const token of tokens) expect(await copyOf(token.path)).toBe(token.access_token);
  const output = outcomes.map(({ stdout, stderr }) => stdout + stderr).join('');
  for (const { access_token } of tokens) expect(output).not.toContain(access_token);
});

test('what can not be opened or is locked is said, ends with 1, and keeps its seal', async () => {
  await suite.database('access_tokens').update({ sealing_key_id: 'lost' });
  const lost = await reseal(NEW_KEY);
  expect([lost.code, lost.stdout]).toEqual([1, expect.stringContaining('lost is not configured')]);
  expect(lost.stdout).toContain('"resealed":0');
  await suite.database('access_tokens').update({ sealing_key_id: 'k2' });
  const NEWER = `k3:${randomBytes(32).toString('base64')} ${NEW_KEY}`;
  await suite.database.transaction(async (transaction) => {
    await transaction.raw('SELECT token_id FROM access_tokens ORDER BY token_id LIMIT 1 FOR UPDATE');
    const busy = await reseal(NEWER);
    expect([busy.code, busy.stdout]).toEqual([1, expect.stringContaining('"remaining":1')]);
  });
  expect((await reseal(NEWER)).code).toBe(0);
});
