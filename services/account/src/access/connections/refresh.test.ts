import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  accessTokenHash,
  applicationPart,
  clientIdOf,
  newAccessToken,
} from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  connect,
  exchange,
  newActingApplication,
  obtainCode,
  refresh,
} from '../../../test/suite/authorization.ts';
import type { ActingApplication, TokenAnswer } from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { mailsTo, nthMail } from '../../../test/suite/people.ts';
import { getUsage } from '../../../test/suite/requests.ts';

let mailDirectory: string;
let suite: AccountUnderTest;
let application: ActingApplication;
let person: Owner;
let tokens: TokenAnswer;

beforeAll(async () => {
  mailDirectory = mkdtempSync(join(tmpdir(), 'tollgate-connection-mails-'));
  suite = await startAccount({
    settings: { MAIL_DIR: mailDirectory },
    authSettings: { FAILED_ATTEMPTS_PER_ADDRESS: '1000', FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '1000' },
  });
  [application, person] = await Promise.all([
    newActingApplication(suite, { public_client: true }),
    newOwner(suite),
  ]);
  await insertPeriod(suite.database, person.account_id);
});

beforeEach(async () => {
  tokens = await connect(suite, application, person.browser);
});

afterAll(async () => {
  await suite.close();
  rmSync(mailDirectory, { recursive: true });
});

const rotate = (token: string, changes: Record<string, string> = {}) =>
  refresh(suite.auth, application, token, changes);
const usageStatus = async (token: string) => (await getUsage(suite.account, token)).status;
const pairOf = ({ access_token, refresh_token }: TokenAnswer) => `${access_token} ${refresh_token}`;

async function hiddenIdOf(answer: TokenAnswer): Promise<number> {
  const found: unknown = await suite
    .database('applications')
    .where({ client_id: connectionIdOf(answer) })
    .first();
  return (found as { application_id: number }).application_id;
}

const connectionIdOf = ({ refresh_token }: TokenAnswer) => clientIdOf(refresh_token.split('_')[1] ?? '');

async function expectFamilyDead(...family: readonly TokenAnswer[]): Promise<void> {
  for (const { access_token } of family) {
    await waitFor(async () => (await usageStatus(access_token)) === 401);
  }
  for (const { refresh_token } of family) {
    expect(await rotate(refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  }
}

test('a refresh rotates the token, and earlier access tokens live until they expire', async () => {
  const next = await rotate(tokens.refresh_token);
  expect(next).toMatchObject({ status: 200, expires_in: 3_600, scope: 'api' });
  expect(next.refresh_token).not.toBe(tokens.refresh_token);
  expect(await usageStatus(next.access_token)).toBe(200);
  expect(await usageStatus(tokens.access_token)).toBe(200);
  expect((await rotate(next.refresh_token)).status).toBe(200);
});

test('of twenty concurrent refreshes all get the same successor and access token', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => rotate(tokens.refresh_token)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(pairOf)).size).toBe(1);
});

test('a token that is repeated after its successor was used ends the family', async () => {
  const second = await rotate(tokens.refresh_token);
  const third = await rotate(second.refresh_token);
  expect((await rotate(tokens.refresh_token)).error).toBe('invalid_grant');
  await expectFamilyDead(tokens, second, third);
  const ended: unknown = await suite
    .database('audit_log')
    .where({ account_id: person.account_id, action: 'connection_ended' })
    .orderBy('audit_id', 'desc')
    .first();
  expect(ended).toMatchObject({
    actor: `client:${application.client_id}`,
    details: { reason: 'refresh_token_reused', client_id: application.client_id },
  });
});

test('the owner is told by one mail that a family ended because a token was reused', async () => {
  const owner = await newOwner(suite);
  const first = await connect(suite, application, owner.browser);
  const second = await rotate(first.refresh_token);
  await rotate(second.refresh_token);
  await rotate(first.refresh_token);
  await rotate(first.refresh_token);
  const { subject, text } = await nthMail(mailDirectory, owner.email);
  expect(subject).toContain('An application was disconnected from your account');
  expect(text).not.toContain('Chart maker');
  expect(text).toContain('/user/account/activity');
  await waitFor(
    async () => (await suite.database('mail_outbox').where({ recipient: owner.email })).length === 0,
  );
  expect(mailsTo(mailDirectory, owner.email)).toHaveLength(1);
});

test('a token that is repeated after 30 seconds ends the family, though its successor is unused', async () => {
  const second = await rotate(tokens.refresh_token);
  await suite
    .database('refresh_tokens')
    .whereNotNull('rotated_at')
    .update({ rotated_at: suite.database.raw("rotated_at - interval '31 seconds'") });
  expect((await rotate(tokens.refresh_token)).error).toBe('invalid_grant');
  await expectFamilyDead(tokens, second);
});

test('thief and owner refresh at once, again and again: they stay on one chain until one is behind, then all ends', async () => {
  let latest = tokens;
  for (let round = 0; round < 5; round += 1) {
    const [one, other] = await Promise.all([rotate(latest.refresh_token), rotate(latest.refresh_token)]);
    expect(pairOf(one)).toBe(pairOf(other));
    latest = one;
  }
  await rotate(latest.refresh_token);
  await rotate(tokens.refresh_token);
  await expectFamilyDead(latest);
});

test('one family’s end leaves the person’s other connections alone', async () => {
  const other = await connect(suite, application, person.browser);
  const second = await rotate(tokens.refresh_token);
  await rotate(second.refresh_token);
  await rotate(tokens.refresh_token);
  await expectFamilyDead(tokens);
  expect(await usageStatus(other.access_token)).toBe(200);
  expect((await rotate(other.refresh_token)).status).toBe(200);
});

test('an invented token that names a connection is refused, and ends nothing', async () => {
  const invented = newAccessToken('tgr', connectionIdOf(tokens) ?? '');
  expect(await rotate(invented)).toMatchObject({ status: 400, error: 'invalid_grant' });
  expect(await usageStatus(tokens.access_token)).toBe(200);
  expect((await rotate(tokens.refresh_token)).status).toBe(200);
});

test('another client can neither use nor end it', async () => {
  const other = await newActingApplication(suite, { public_client: true });
  for (const token of [tokens.refresh_token, (await rotate(tokens.refresh_token)).refresh_token]) {
    expect(await refresh(suite.auth, other, token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  }
  expect(await usageStatus(tokens.access_token)).toBe(200);
});

test('a confidential client can’t refresh without its secret', async () => {
  const app = await newActingApplication(suite);
  const own = await connect(suite, app, person.browser);
  expect(await refresh(suite.auth, { ...app, client_secret: null }, own.refresh_token)).toMatchObject({
    status: 401,
    error: 'invalid_client',
  });
  expect((await refresh(suite.auth, app, own.refresh_token)).status).toBe(200);
});

test('rotated tokens are kept for 30 days, and none of an ended connection', async () => {
  const first = await rotate(tokens.refresh_token);
  const kept = async () => {
    const rows = await suite
      .database('refresh_tokens')
      .join('applications', 'applications.application_id', 'refresh_tokens.application_id')
      .where({ client_id: connectionIdOf(tokens) })
      .orderBy('issued_at')
      .select('token_hash');
    return rows.map(({ token_hash }: { token_hash: string }) => token_hash);
  };
  const [old] = await kept();
  const rotated_at = new Date(Date.now() - 31 * 86_400_000);
  await suite.database('refresh_tokens').where({ token_hash: old }).update({ rotated_at });
  const second = await rotate(first.refresh_token);
  expect(await kept()).toHaveLength(2);
  expect(await kept()).not.toContain(old);
  // It is as one that was never issued.
  expect((await rotate(tokens.refresh_token)).error).toBe('invalid_grant');
  expect((await rotate(second.refresh_token)).status).toBe(200);
  await rotate(first.refresh_token);
  expect(await kept()).toEqual([]);
  await expectFamilyDead(second);
});

test('of a client that refreshes all the time the newest thousand rotated tokens are kept', async () => {
  const application_id = await hiddenIdOf(tokens);
  await suite.database.raw(
    `INSERT INTO refresh_tokens (token_hash, application_id, expires_at, rotated_at, nonce, successor_hash)
     SELECT rpad(CAST(n AS text), 43, '-'), :application_id, now() + interval '1 day', now() - n * interval '1 second',
       rpad('n', 43, '-'), rpad('s', 43, '-') FROM generate_series(1, 1200) AS n`,
    { application_id },
  );
  const next = await rotate(tokens.refresh_token);
  expect(next.status).toBe(200);
  const rotated = await suite
    .database('refresh_tokens')
    .where({ application_id })
    .whereNotNull('rotated_at')
    .orderBy('rotated_at', 'desc')
    .select<{ token_hash: string }[]>('token_hash');
  // The one that was just rotated comes on top.
  expect(rotated).toHaveLength(1_001);
  expect(rotated.at(-1)?.token_hash).toBe('1000'.padEnd(43, '-'));
});

test('a refresh beyond the limit of token requests is refused before it rotates, and the token stays good', async () => {
  const limited = await startAccount({ authSettings: { TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE: '1' } });
  try {
    const acting = await newActingApplication(limited, { public_client: true });
    const owner = await newOwner(limited);
    const first = await connect(limited, acting, owner.browser);
    const second = await refresh(limited.auth, acting, first.refresh_token);
    expect(second.status).toBe(200);
    expect((await refresh(limited.auth, acting, second.refresh_token)).status).toBe(429);
    const newest: unknown = await limited.database('refresh_tokens').whereNull('rotated_at');
    expect(newest).toMatchObject([{ token_hash: accessTokenHash(second.refresh_token) }]);
  } finally {
    await limited.close();
  }
});

test('scope and resource may repeat what was granted; anything else is refused, and the token stays good', async () => {
  expect((await rotate(tokens.refresh_token, { scope: 'api mcp' })).error).toBe('invalid_scope');
  expect((await rotate(tokens.refresh_token, { resource: 'https://other.example' })).error).toBe(
    'invalid_target',
  );
  expect((await rotate(tokens.refresh_token, { scope: 'api' })).status).toBe(200);
});

test('an access token with less of the grant never becomes one with more, though the refresh is repeated', async () => {
  const asked = { scope: 'mcp mcp:write', resource: 'http://tollgate.example/mcp' };
  const code = await obtainCode(suite.account, application, person.browser, asked);
  const granted = await exchange(suite.auth, application, code);
  const [less, more, again] = [
    await rotate(granted.refresh_token, { scope: 'mcp' }),
    await rotate(granted.refresh_token),
    await rotate(granted.refresh_token, { scope: 'mcp' }),
  ];
  expect([less.status, more.status, again.status]).toEqual([200, 200, 200]);
  expect(more.access_token).not.toBe(less.access_token);
  expect(again.access_token).toBe(less.access_token);
  // The family has one successor all the same.
  expect(new Set([less, more, again].map(({ refresh_token }) => refresh_token)).size).toBe(1);
});

test('an access token doesn’t outlive its connection', async () => {
  const application_id = await hiddenIdOf(tokens);
  await suite
    .database('connections')
    .where({ application_id })
    .update({ expires_at: new Date(Date.now() + 120_000) });
  const next = await rotate(tokens.refresh_token);
  expect(next.expires_in).toBeGreaterThan(60);
  expect(next.expires_in).toBeLessThanOrEqual(120);
  await suite
    .database('connections')
    .where({ application_id })
    .update({ expires_at: new Date(Date.now() + 59_000) });
  expect(await rotate(next.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
});

test('a refresh token ends after 90 days without use, and its connection after a year', async () => {
  const endOf = async (table: string, application_id: number) => {
    const rows = await suite
      .database(table)
      .where({ application_id })
      .orderBy('expires_at', 'desc')
      .select('expires_at');
    return ((rows[0] as { expires_at: Date }).expires_at.getTime() - Date.now()) / 86_400_000;
  };
  const application_id = await hiddenIdOf(tokens);
  expect(await endOf('refresh_tokens', application_id)).toBeCloseTo(90, 1);
  expect(await endOf('connections', application_id)).toBeCloseTo(365, 1);
  await suite
    .database('connections')
    .where({ application_id })
    .update({ expires_at: new Date(Date.now() + 86_400_000) });
  const next = await rotate(tokens.refresh_token);
  const rows = await suite
    .database('refresh_tokens')
    .where({ application_id, rotated_at: null })
    .select('expires_at');
  expect((rows[0] as { expires_at: Date }).expires_at.getTime()).toBeLessThanOrEqual(Date.now() + 86_400_000);
  await suite.database('refresh_tokens').where({ application_id }).update({ expires_at: new Date() });
  expect((await rotate(next.refresh_token)).error).toBe('invalid_grant');
});

test('account is killed at any moment of a refresh: the client repeats it, and has tokens that work', async () => {
  for (const delayMs of [0, 2, 5, 10]) {
    const under = rotate(tokens.refresh_token).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await suite.account.kill();
    await under;
    await suite.account.restart();
    await becomeReady(suite.account);
    const again = await waitFor(async () => {
      const answer = await rotate(tokens.refresh_token);
      return answer.status === 503 ? undefined : answer;
    });
    expect(again.status).toBe(200);
    expect(await usageStatus(again.access_token)).toBe(200);
    tokens = again;
  }
});

test('auth is killed at any moment of a refresh: the client repeats it, and has tokens that work', async () => {
  for (const delayMs of [0, 2, 5, 10]) {
    const under = rotate(tokens.refresh_token).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await suite.auth.kill();
    await under;
    await suite.auth.restart();
    await becomeReady(suite.auth);
    const again = await rotate(tokens.refresh_token);
    expect(again.status).toBe(200);
    expect(await usageStatus(again.access_token)).toBe(200);
    tokens = again;
  }
});

test('Redis loses everything: the access token is gone, and a refresh gives another', async () => {
  await suite.redis.kill();
  await suite.redis.restart();
  await waitFor(() => suite.store.status === 'ready');
  await suite.store.flushall();
  await waitFor(async () => (await usageStatus(tokens.access_token)) === 401);
  const next = await rotate(tokens.refresh_token);
  expect(await usageStatus(next.access_token)).toBe(200);
});

test('without account no token is refreshed: 503, and nothing is lost', async () => {
  await suite.account.kill();
  expect(await rotate(tokens.refresh_token)).toMatchObject({ status: 503, error: 'temporarily_unavailable' });
  await suite.account.restart();
  await becomeReady(suite.account);
  expect((await rotate(tokens.refresh_token)).status).toBe(200);
});

test('the access token’s part in Redis is its connection’s', async () => {
  const part = applicationPart(connectionIdOf(tokens) ?? '');
  expect(tokens.access_token).toContain(`_${part}_`);
  const keys = await suite.store.keys(`auth:{${part}}:token:*`);
  expect(keys).toHaveLength(1);
  expect(JSON.parse((await suite.store.get(keys[0] ?? '')) ?? '')).toMatchObject({
    via: application.client_id,
  });
});
