import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newAccessToken } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  answerRequest,
  askForTokens,
  connect,
  exchange,
  newActingApplication,
  newPkce,
  obtainCode,
  openAuthorize,
  parametersOf,
  refresh,
  requestIdOf,
} from '../../../test/suite/authorization.ts';
import type { ActingApplication } from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod, insertTeam } from '../../../test/suite/database/records.ts';
import { getUsage } from '../../../test/suite/requests.ts';

let suite: AccountUnderTest;
let application: ActingApplication;
let person: Owner;

beforeAll(async () => {
  suite = await startAccount({
    authSettings: { FAILED_ATTEMPTS_PER_ADDRESS: '1000', FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '1000' },
  });
  [application, person] = await Promise.all([newActingApplication(suite), newOwner(suite)]);
  await insertPeriod(suite.database, person.account_id);
});

afterAll(() => suite.close());

const code = () => obtainCode(suite.account, application, person.browser);
const usageStatus = async (token: string) => (await getUsage(suite.account, token)).status;

async function expectDead(accessToken: string): Promise<void> {
  await waitFor(async () => (await usageStatus(accessToken)) === 401);
}

test('a code becomes an access token for the person who consented, and a refresh token', async () => {
  const tokens = await connect(suite, application, person.browser);
  expect(tokens).toMatchObject({ status: 200, expires_in: 3_600, token_type: 'bearer', scope: 'api' });
  expect(tokens.access_token).toMatch(/^tg_/);
  expect(tokens.refresh_token).toMatch(/^tgr_/);
  const usage = (await (await getUsage(suite.account, tokens.access_token)).json()) as object;
  expect(usage).toMatchObject({ account_id: person.account_id, payer_id: person.account_id });
  // A refresh token opens nothing by itself.
  expect(await usageStatus(tokens.refresh_token)).toBe(401);
});

test('an application whose developer is blocked gets no consent, no tokens and no refresh', async () => {
  const acting = await newActingApplication(suite);
  const { refresh_token } = await connect(suite, acting, person.browser);
  const before = await obtainCode(suite.account, acting, person.browser);
  const { account_id } = acting.developer;
  await suite.database('accounts').where({ account_id }).update({ blocked_at: new Date() });
  expect(await exchange(suite.auth, acting, before)).toMatchObject({ status: 400, error: 'invalid_grant' });
  expect(await refresh(suite.auth, acting, refresh_token)).toMatchObject({ error: 'invalid_grant' });
  await expect(obtainCode(suite.account, acting, person.browser)).rejects.toThrow('no consent page');
});

test('a redirect URI that was removed gets no code, and a code that it has no tokens', async () => {
  const acting = await newActingApplication(suite);
  const before = await obtainCode(suite.account, acting, person.browser);
  const asked = await openAuthorize(suite.account, parametersOf(acting, newPkce()));
  const redirect_uris = ['https://elsewhere.example/callback'];
  const changed = await acting.developer.browser.request('PATCH', acting.path, { redirect_uris });
  expect(changed.status).toBe(200);
  await expect(answerRequest(person.browser, await requestIdOf(asked))).rejects.toThrow('not_found');
  expect(await exchange(suite.auth, acting, before)).toMatchObject({ status: 400, error: 'invalid_grant' });
});

test('calls for a member of a team are the manager’s to pay, from the moment that they are in the team', async () => {
  const [manager, member] = await Promise.all([newOwner(suite), newOwner(suite)]);
  await Promise.all([manager, member].map(({ account_id }) => insertPeriod(suite.database, account_id)));
  const { access_token } = await connect(suite, application, member.browser);
  const payer = async () =>
    ((await (await getUsage(suite.account, access_token)).json()) as { payer_id: number }).payer_id;
  expect(await payer()).toBe(member.account_id);
  await insertTeam(suite.database, manager.account_id, member.account_id);
  expect(await payer()).toBe(manager.account_id);
});

test('of ten concurrent exchanges of a code at most one gets tokens, and they end with the replay', async () => {
  const obtained = await code();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => exchange(suite.auth, application, obtained)),
  );
  const successes = answers.filter(({ status }) => status === 200);
  expect(successes).toHaveLength(1);
  for (const { status, error } of answers) if (status !== 200) expect(error).toBe('invalid_grant');
  const [first] = successes;
  await expectDead(first?.access_token ?? '');
  expect(await refresh(suite.auth, application, first?.refresh_token ?? '')).toMatchObject({
    error: 'invalid_grant',
  });
});

test('a code that comes again without its verifier is refused, and what it became lives on', async () => {
  const obtained = await code();
  const tokens = await exchange(suite.auth, application, obtained);
  const stolen = { code: obtained.code, verifier: 'x'.repeat(43) };
  expect(await exchange(suite.auth, application, stolen)).toMatchObject({
    status: 400,
    error: 'invalid_grant',
  });
  expect(await usageStatus(tokens.access_token)).toBe(200);
  expect((await refresh(suite.auth, application, tokens.refresh_token)).status).toBe(200);
});

describe('a request with something wrong uses the code up', () => {
  test.each([
    { what: 'another verifier', changes: { code_verifier: 'y'.repeat(43) } },
    { what: 'a verifier that is too short', changes: { code_verifier: 'short' } },
    { what: 'another redirect URI', changes: { redirect_uri: 'https://app.example/callback' } },
    { what: 'another resource', changes: { resource: 'https://other.example/' }, error: 'invalid_target' },
  ])('$what', async ({ changes, error = 'invalid_grant' }) => {
    const obtained = await code();
    expect(await exchange(suite.auth, application, obtained, changes)).toMatchObject({ status: 400, error });
    expect(await exchange(suite.auth, application, obtained)).toMatchObject({ error: 'invalid_grant' });
  });
});

test('a verifier that could be guessed is none, though its hash is the challenge', async () => {
  for (const verifier of ['short', 'x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(42)}é`]) {
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    const { code: obtained } = await obtainCode(suite.account, application, person.browser, {
      code_challenge,
    });
    expect(await exchange(suite.auth, application, { code: obtained, verifier })).toMatchObject({
      status: 400,
      error: 'invalid_grant',
    });
  }
});

test('another client can’t use a code, nor use it up', async () => {
  const [other, obtained] = await Promise.all([newActingApplication(suite), code()]);
  expect(await exchange(suite.auth, other, obtained)).toMatchObject({ status: 400, error: 'invalid_grant' });
  expect((await exchange(suite.auth, application, obtained)).status).toBe(200);
});

test('a confidential client without its secret, or with a wrong one, is invalid_client; its code stays good', async () => {
  const obtained = await code();
  for (const client_secret of [null, 'wrong']) {
    expect(await exchange(suite.auth, { ...application, client_secret }, obtained)).toMatchObject({
      status: 401,
      error: 'invalid_client',
    });
  }
  expect((await exchange(suite.auth, application, obtained)).status).toBe(200);
});

test('a public client needs no secret, and one that is sent is wrong', async () => {
  const app = await newActingApplication(suite, {
    public_client: true,
    redirect_uris: ['com.example.app:/cb'],
  });
  expect(app.client_secret).toBeNull();
  const obtained = await obtainCode(suite.account, app, person.browser);
  expect((await exchange(suite.auth, { ...app, client_secret: 'any' }, obtained)).status).toBe(401);
  const tokens = await exchange(suite.auth, app, obtained);
  expect(tokens.status).toBe(200);
  expect((await refresh(suite.auth, app, tokens.refresh_token)).status).toBe(200);
});

test('neither kind of client gets a token by client credentials', async () => {
  const app = await newActingApplication(suite, { public_client: true });
  const fields = { grant_type: 'client_credentials', scope: 'api' };
  for (const client of [application, app]) {
    expect(await askForTokens(suite.auth, client, fields)).toMatchObject({
      status: 400,
      error: 'unauthorized_client',
    });
  }
});

test.each(['code', 'redirect_uri', 'code_verifier'])('without %s it is invalid_request', async (name) => {
  const fields: Record<string, string> = {
    grant_type: 'authorization_code',
    code: newAccessToken('tgc', application.client_id),
    redirect_uri: application.redirect_uri,
    code_verifier: 'z'.repeat(43),
  };
  Reflect.deleteProperty(fields, name);
  expect(await askForTokens(suite.auth, application, fields)).toMatchObject({
    status: 400,
    error: 'invalid_request',
  });
});

test('a code ends after a minute', async () => {
  const obtained = await code();
  await suite
    .database('authorization_codes')
    .where({ account_id: person.account_id })
    .update({ expires_at: suite.database.raw("expires_at - interval '60 seconds'") });
  expect(await exchange(suite.auth, application, obtained)).toMatchObject({ error: 'invalid_grant' });
});

test('a code ends with the session in which the person consented', async () => {
  const visitor = await newOwner(suite);
  const obtained = await obtainCode(suite.account, application, visitor.browser);
  expect((await visitor.browser.request('DELETE', '/session')).status).toBe(204);
  expect(await exchange(suite.auth, application, obtained)).toMatchObject({ error: 'invalid_grant' });
});

test('no store holds a code, a refresh token or an access token', async () => {
  const obtained = await code();
  const tokens = await exchange(suite.auth, application, obtained);
  const next = await refresh(suite.auth, application, tokens.refresh_token);
  const rows = await Promise.all(
    ['authorization_requests', 'authorization_codes', 'connections', 'refresh_tokens', 'audit_log'].map(
      (table) => suite.database(table).select(),
    ),
  );
  const keys = await suite.store.keys('*');
  const stored = JSON.stringify([rows, keys]);
  for (const secret of [obtained.code, tokens.access_token, tokens.refresh_token, next.refresh_token]) {
    expect(stored).not.toContain(secret);
    expect(suite.account.logs() + suite.auth.logs()).not.toContain(secret);
  }
});

test('an account has 20 connections to an application at most: the oldest ends', async () => {
  const busy = await newOwner(suite);
  await insertPeriod(suite.database, busy.account_id);
  const first = await connect(suite, application, busy.browser);
  for (let made = 1; made < 21; made += 1) await connect(suite, application, busy.browser);
  await expectDead(first.access_token);
  const { body } = await busy.browser.request('GET', '/connections');
  expect(body['connections']).toHaveLength(20);
});
