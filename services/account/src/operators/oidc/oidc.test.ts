import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { mailAbout } from '../../../test/suite/people.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { callConsole, insertOperatorBrowser } from '../../../test/suite/operator-browser.ts';
import type { OperatorBrowser } from '../../../test/suite/operator-browser.ts';
import { newAuthenticator } from '../../../test/suite/stand-ins/authenticator.ts';
import { startLyingProvider } from '../../../test/suite/stand-ins/identity-provider.ts';
import type { LyingProvider } from '../../../test/suite/stand-ins/identity-provider.ts';

/** docs/operators.md: signing in by an identity provider, here one that lies. */

let suite: OperatedAccount;
let provider: LyingProvider;
let origin: string;
let directory: string;

const settingsOf = ({ issuer, clientId, clientSecret }: LyingProvider) => ({
  OPERATORS_OIDC_ISSUER: issuer,
  OPERATORS_OIDC_CLIENT_ID: clientId,
  OPERATORS_OIDC_CLIENT_SECRET: clientSecret,
  OPERATORS_OIDC_GROUPS: 'everyone=viewer, ledger=finance, help=support, root%2C too=admin',
});

beforeAll(async () => {
  provider = await startLyingProvider();
  const port = String(await freePort());
  origin = `http://localhost:${port}`;
  directory = mkdtempSync(join(tmpdir(), 'tollgate-oidc-'));
  mkdirSync(join(directory, 'mails'));
  suite = await startOperatedAccount({
    settings: {
      PRIVATE_PORT: port,
      OPERATORS_URL: `${origin}/operator`,
      HOUSEKEEPING_INTERVAL_SEC: '1',
      MAIL_DIR: join(directory, 'mails'),
      TRUSTED_PROXIES: '127.0.0.1/32',
      LOG_LEVEL: 'debug',
      // The stand-in answers no probes, which the report of health asks.
      AUTH_PRIVATE_URL: 'http://127.0.0.1:1',
      ...settingsOf(provider),
    },
  });
});

afterAll(async () => {
  await suite.close();
  await provider.goAway();
  rmSync(directory, { recursive: true });
});

let asked = 0;
const ADA = { name: 'Ada', email: 'ada@example.com', email_verified: true, groups: ['everyone', 'help'] };

beforeEach(() => {
  provider.lie = {};
  provider.claims = ADA;
  provider.userInfo = { sub: 'ada' };
});

/** Each test as another address, as attempts of one are limited. */
const call = (browser: OperatorBrowser, method: string, path: string, body?: unknown) => {
  asked += 1;
  const address = `198.51.${String(asked >> 8)}.${String(asked & 255)}`;
  return callConsole(suite.account, browser, method, path, body, { 'x-forwarded-for': address });
};

async function begin(browser: OperatorBrowser, again = false): Promise<string> {
  const answer = await call(browser, 'POST', '/sign-in/oidc/authorization', { again });
  expect(answer.status).toBe(201);
  return String(answer.body['authorization_url']);
}

const finish = (browser: OperatorBrowser, parameters: string) =>
  call(browser, 'POST', '/sign-in/oidc', { parameters });

async function signIn(browser: OperatorBrowser = {}, changes: Record<string, string | null> = {}) {
  const url = await begin(browser);
  return { browser, answer: await finish(browser, provider.answerTo(url, changes)) };
}

/** Of an address, before it has signed in. */
const attempts = (address: string) =>
  suite.database('attempt_counts').where({
    subject: createHash('sha256').update(`operator sign-in address ${address}`).digest('base64url'),
  });

const attemptsOf = async (address: string) =>
  ((await attempts(address).first()) as { attempts: number } | undefined)?.attempts ?? 0;

const exhaust = (address: string) => attempts(address).update({ attempts: 1_000 });

const entriesOf = (action: string) =>
  suite.database('audit_log').where({ action }).orderBy('audit_id', 'desc');

describe('signing in', () => {
  test('asks with state, nonce and PKCE, and begins a session with the role of the groups', async () => {
    const browser: OperatorBrowser = {};
    const url = new URL(await begin(browser));
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/auth`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: `${origin}/operator/oidc/callback`,
      scope: 'openid profile email groups',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(url.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    }
    const answer = await finish(browser, provider.answerTo(url.href));
    expect(answer).toMatchObject({ status: 201, body: { name: 'Ada', email: ADA.email, role: 'support' } });
    expect((await call(browser, 'GET', '/session')).body).toMatchObject({ role: 'support' });
    expect((await entriesOf('operator_signed_in').first()) as unknown).toMatchObject({
      actor: `operator:person/${String(answer.body['operator_id'])}`,
      details: { method: 'oidc', role: 'support', operator: { name: 'Ada', issuer: provider.issuer } },
    });
  });

  test('cookies are HttpOnly and Strict', async () => {
    const begun = await call({}, 'POST', '/sign-in/oidc/authorization', { again: false });
    const [cookie = ''] = begun.headers.getSetCookie();
    expect(cookie).toMatch(/^tollgate_operator_sign_in=[\w-]{43};/);
    for (const part of ['Path=/operator/api/sign-in/oidc', 'HttpOnly', 'SameSite=Strict']) {
      expect(cookie).toContain(part);
    }
  });

  test('someone is known by issuer and subject, whatever they are called', async () => {
    const first = await signIn();
    provider.claims = { ...ADA, name: 'Countess', email: 'other@example.com' };
    const second = await signIn();
    expect(second.answer.body).toMatchObject({
      operator_id: first.answer.body['operator_id'],
      name: 'Countess',
    });
    provider.claims = { ...ADA, sub: 'eve' };
    const eve = await signIn();
    expect(eve.answer.body['operator_id']).not.toBe(first.answer.body['operator_id']);
    const { body } = await operatePath(suite.account, 'GET', '/private/operators');
    expect(body['operators']).toContainEqual(
      expect.objectContaining({
        operator_id: first.answer.body['operator_id'],
        issuer: provider.issuer,
        local_role: null,
      }),
    );
  });

  test('of two first sign-ins at once, both are the same operator', async () => {
    provider.claims = { ...ADA, sub: 'twin' };
    const both = await Promise.all([signIn(), signIn()]);
    expect(both.map(({ answer }) => answer.status)).toEqual([201, 201]);
    expect(new Set(both.map(({ answer }) => answer.body['operator_id'])).size).toBe(1);
  });

  test.each([
    [{ email_verified: false }, null],
    [{ email_verified: 'false' }, null],
    [{ email_verified: undefined }, null],
    [{ email_verified: 'true' }, ADA.email],
  ])('an address with %j is %j', async (claims, email) => {
    provider.claims = { ...ADA, ...claims };
    expect((await signIn()).answer.body).toMatchObject({ email });
  });

  test('userinfo is asked where the ID token has no groups', async () => {
    provider.claims = { ...ADA, groups: undefined };
    provider.userInfo = { sub: 'ada', groups: ['root, too'] };
    expect((await signIn()).answer.body).toMatchObject({ role: 'admin' });
    // Of someone else.
    provider.userInfo = { sub: 'eve', groups: ['root, too'] };
    expect((await signIn()).answer.body).toMatchObject({ code: 'operator_sign_in_failed' });
  });
});

test('all operators of a company can sign in from one address: what succeeds isn’t counted', async () => {
  const address = '203.0.113.70';
  const at = { 'x-forwarded-for': address };
  const browser: OperatorBrowser = {};
  const asked = { again: false };
  const begun = await callConsole(suite.account, browser, 'POST', '/sign-in/oidc/authorization', asked, at);
  expect(await attemptsOf(address)).toBe(1);
  const parameters = provider.answerTo(String(begun.body['authorization_url']));
  const answer = await callConsole(suite.account, browser, 'POST', '/sign-in/oidc', { parameters }, at);
  expect([answer.status, await attemptsOf(address)]).toEqual([201, 0]);
});

describe('without a role', () => {
  test.each([
    ['unmapped_groups', { groups: ['Help', '*'] }, 'OPERATORS_OIDC_GROUPS has none of its groups: Help, *.'],
    ['no_group', { groups: [] }, 'lists no groups'],
    ['no_groups_claim', { groups: undefined }, 'sent no groups'],
    ['too_many_groups', { groups: undefined, hasgroups: true }, 'too many groups'],
  ])('%s is refused by its name, and audited', async (why, claims, text) => {
    provider.claims = { ...ADA, ...claims };
    const { answer, browser } = await signIn();
    expect(answer).toMatchObject({ status: 403, body: { code: 'no_operator_role' } });
    expect(answer.body['detail']).toContain('Ada (ada@example.com) has no role here.');
    expect(answer.body['detail']).toContain(text);
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
    expect((await entriesOf('operator_sign_in_refused').first()) as unknown).toMatchObject({
      actor: 'operator-sign-in',
      details: { why, issuer: provider.issuer, subject: 'ada', name: 'Ada' },
    });
  });

  test('a group that was taken away counts at the next sign-in; the session before ends by its age', async () => {
    const { browser, answer } = await signIn();
    const left = Date.parse(String(answer.body['expires_at'])) - Date.now();
    expect(left).toBeLessThan(3_601_000);
    expect(left).toBeGreaterThan(3_500_000);
    provider.claims = { ...ADA, groups: ['everyone'] };
    expect((await signIn(browser)).answer.body).toMatchObject({ role: 'viewer' });
    provider.claims = { ...ADA, groups: [] };
    expect((await signIn(browser)).answer.status).toBe(403);
  });
});

describe('reading the role again, silently', () => {
  const silently = async (browser: OperatorBrowser) =>
    call(browser, 'POST', '/sign-in/oidc/authorization', { again: false, silent: true });
  const status = async (browser: OperatorBrowser) => (await call(browser, 'GET', '/session')).status;

  test('asks the provider without a page, and puts a new session with the role of now in place of the first', async () => {
    const { browser, answer } = await signIn();
    expect(answer.body).toMatchObject({ role: 'support', issuer: provider.issuer });
    const first = structuredClone(browser);
    const url = String((await silently(browser)).body['authorization_url']);
    expect(new URL(url).searchParams.get('prompt')).toBe('none');
    expect(await status(browser)).toBe(200);
    provider.claims = { ...ADA, groups: ['everyone'] };
    expect((await finish(browser, provider.answerTo(url))).body).toMatchObject({ role: 'viewer' });
    expect([await status(browser), await status(first)]).toEqual([200, 401]);
  });

  test.each(['login_required', 'access_denied'])('where it answers %s, the session ends', async (error) => {
    const { browser } = await signIn();
    const first = structuredClone(browser);
    const url = String((await silently(browser)).body['authorization_url']);
    const refused = await finish(browser, provider.answerTo(url, { code: null, error }));
    expect(refused.body).toMatchObject({ code: 'operator_sign_in_failed' });
    expect([await status(browser), await status(first)]).toEqual([401, 401]);
    expect((await entriesOf('operator_session_ended').first()) as unknown).toMatchObject({
      details: { by: 'identity_provider', operator: { name: 'Ada' } },
    });
  });

  test('where the groups are gone, the session ends', async () => {
    const { browser } = await signIn();
    const first = structuredClone(browser);
    const url = String((await silently(browser)).body['authorization_url']);
    provider.claims = { ...ADA, groups: [] };
    expect((await finish(browser, provider.answerTo(url))).status).toBe(403);
    expect(await status(first)).toBe(401);
  });

  test('where the answer is forged, or the provider has faults, the session goes on', async () => {
    const { browser } = await signIn();
    for (const changes of [
      { code: null, error: 'login_required', state: 'b'.repeat(43) },
      { code: null, error: 'login_required', iss: 'https://elsewhere.example' },
    ]) {
      const url = String((await silently(browser)).body['authorization_url']);
      await finish(browser, provider.answerTo(url, changes));
      expect(await status(browser)).toBe(200);
    }
    const url = String((await silently(browser)).body['authorization_url']);
    provider.lie = { status: 500 };
    expect((await finish(browser, provider.answerTo(url))).status).toBe(503);
    expect(await status(browser)).toBe(200);
  });

  test('needs a session of the provider', async () => {
    expect((await silently({})).status).toBe(401);
    const { browser } = await insertOperatorBrowser(suite.database, 'viewer');
    expect((await silently(browser)).status).toBe(401);
  });

  test('isn’t limited by the address, as a sign-in is', async () => {
    const { browser } = await signIn();
    const address = '203.0.113.80';
    const ask = (one: OperatorBrowser, silent: boolean) =>
      callConsole(
        suite.account,
        one,
        'POST',
        '/sign-in/oidc/authorization',
        { again: false, silent },
        { 'x-forwarded-for': address },
      );
    await ask({}, false);
    await exhaust(address);
    expect([(await ask({}, false)).status, (await ask(browser, true)).status]).toEqual([429, 201]);
  });
});

describe('an answer is refused', () => {
  const now = Math.floor(Date.now() / 1_000);
  const refused = { status: 400, body: { code: 'operator_sign_in_failed' } };

  test.each([
    ['for another audience', { aud: 'another' }],
    ['for ours and another, without our azp', { aud: ['console', 'another'] }],
    ['for ours and another, with another azp', { aud: ['console', 'another'], azp: 'another' }],
    ['of another issuer', { iss: 'http://127.0.0.1:1' }],
    ['with another nonce', { nonce: 'a'.repeat(43) }],
    ['without a nonce', { nonce: undefined }],
    ['that has expired', { exp: now - 120 }],
    ['without an end', { exp: undefined }],
    ['not yet valid', { nbf: now + 900 }],
    ['without a subject', { sub: undefined }],
    ['with a subject that is too long', { sub: 's'.repeat(256) }],
    ['with a subject that no database holds', { sub: 'a\u0000' }],
  ])('whose ID token is %s', async (_, claims) => {
    provider.claims = { ...ADA, ...claims };
    const { answer, browser } = await signIn();
    expect(answer).toMatchObject(refused);
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
  });

  test.each(['foreign', 'none', 'client_secret', 'ES512'] as const)(
    'whose ID token is signed by: %s',
    async (key) => {
      provider.lie = { key };
      expect((await signIn()).answer).toMatchObject(refused);
    },
  );

  test.each([
    ['another state', { state: 'b'.repeat(43) }],
    ['no state', { state: null }],
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['no issuer, which the provider has promised', { iss: null }],
    ['another code', { code: 'c' }],
    ['no code', { code: null }],
    ['an error', { code: null, error: 'access_denied' }],
  ])('that has %s', async (_, changes) => {
    const { answer, browser } = await signIn({}, changes);
    expect(answer).toMatchObject(refused);
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
  });

  test('whose error comes from another issuer: the error isn’t repeated', async () => {
    const own = await signIn({}, { code: null, error: 'access_denied' });
    expect(own.answer.body['detail']).toContain('It says access_denied.');
    const forged = { code: null, error: 'call_0900_now', iss: 'https://elsewhere.example' };
    expect((await signIn({}, forged)).answer.body['detail']).not.toContain('call_0900_now');
  });

  test('that comes again, also at a time, and also after one that was wrong', async () => {
    const browser: OperatorBrowser = {};
    const parameters = provider.answerTo(await begin(browser));
    const copies = [{ ...browser }, { ...browser }];
    const statuses = (await Promise.all(copies.map((one) => finish(one, parameters)))).map(
      (one) => one.status,
    );
    expect(statuses.toSorted()).toEqual([201, 410]);
    const other: OperatorBrowser = {};
    const url = await begin(other);
    const copy = structuredClone(other);
    expect((await finish(other, provider.answerTo(url, { state: null }))).status).toBe(400);
    expect((await finish(copy, provider.answerTo(url))).status).toBe(410);
  });

  test('in another browser, without the cookie, and for another sign-in', async () => {
    const [one, other]: OperatorBrowser[] = [{}, {}];
    const [url, ofOther] = [await begin(one ?? {}), await begin(other ?? {})];
    expect((await finish({}, provider.answerTo(url))).status).toBe(410);
    // Mixed up: the browser of one with the answer to the other.
    expect(await finish(one ?? {}, provider.answerTo(ofOther))).toMatchObject(refused);
  });

  test('after ten minutes, and the row goes', async () => {
    const browser: OperatorBrowser = {};
    const parameters = provider.answerTo(await begin(browser));
    await suite.database('operator_oidc_sign_ins').update({ expires_at: new Date() });
    expect((await finish(browser, parameters)).body).toMatchObject({ code: 'sign_in_expired' });
  });

  test('from another origin', async () => {
    for (const path of ['/sign-in/oidc', '/sign-in/oidc/authorization']) {
      const response = await callConsole(
        suite.account,
        {},
        'POST',
        path,
        {},
        { origin: 'https://evil.example' },
      );
      expect(response.status).toBe(403);
    }
  });
});

test.each([
  ['a minute slow', { iat: -50, exp: -50 }, 201],
  ['a minute fast', { nbf: 50, iat: 50, exp: 350 }, 201],
  ['two minutes slow', { iat: -420, exp: -120 }, 400],
])('of a provider whose clock is %s', async (_, offsets, status) => {
  const now = Math.floor(Date.now() / 1_000);
  provider.claims = { ...ADA };
  for (const [claim, by] of Object.entries(offsets)) provider.claims[claim] = now + by;
  expect((await signIn()).answer.status).toBe(status);
});

test('keys that were replaced are found at the next attempt, but not asked for at each', async () => {
  expect((await signIn()).answer.status).toBe(201);
  await provider.rotateKeys();
  // Its answer was read with the keys of before, and works once.
  await signIn();
  expect((await signIn()).answer.status).toBe(201);
  const before = provider.requests.get('/jwks');
  provider.lie = { key: 'foreign' };
  for (let attempt = 0; attempt < 3; attempt += 1) await signIn();
  expect(provider.requests.get('/jwks')).toBe(before);
});

describe('while the provider is down', () => {
  const reported = async () =>
    (await operatePath(suite.account, 'GET', '/private/health-report')).body['operator_sign_in'];

  test('sessions go on, signing in is 503 and says the way out, and operators with a passkey sign in', async () => {
    const { browser } = await signIn();
    const began: OperatorBrowser = {};
    const url = await begin(began);
    await provider.goAway();
    try {
      expect((await call(browser, 'GET', '/session')).status).toBe(200);
      expect(await reported()).toEqual({ is_provider_reachable: false, allows_local: true });
      const answer = await finish(began, provider.answerTo(url));
      expect(answer).toMatchObject({ status: 503, body: { code: 'identity_provider_unavailable' } });
      expect(answer.body['detail']).toContain('passkey');
      // A process that has never asked it.
      const replica = await suite.startReplica();
      const at = { privateUrl: replica.privateUrl };
      const begun = await callConsole(at, {}, 'POST', '/sign-in/oidc/authorization', { again: false });
      expect(begun.status).toBe(503);
      const { body } = await operatePath(suite.account, 'POST', '/private/operators', {
        name: 'Grace',
        email: 'grace@example.com',
        role: 'admin',
      });
      const token = new URL((body['enrolment'] as { url: string }).url).hash.replace('#enrol=', '');
      const local: OperatorBrowser = {};
      const options = await call(local, 'POST', '/enrolment/options', { token });
      const credential = newAuthenticator(origin).create(options.body);
      expect((await call(local, 'POST', '/enrolment', { token, credential })).status).toBe(201);
      expect((await call(local, 'GET', '/session')).body).toMatchObject({ role: 'admin' });
      // Past the provider, which all admins are told of.
      expect((await entriesOf('operator_break_glass').first()) as unknown).toMatchObject({
        details: { method: 'enrolment', role: 'admin' },
      });
      const subject = '[Tollgate] An operator signed in without the identity provider';
      await mailAbout(join(directory, 'mails'), 'grace@example.com', subject);
    } finally {
      await provider.comeBack();
    }
    expect(await reported()).toEqual({ is_provider_reachable: true, allows_local: true });
    expect((await signIn()).answer.status).toBe(201);
  });

  test('one that has faults is no different', async () => {
    const browser: OperatorBrowser = {};
    const url = await begin(browser);
    provider.lie = { status: 500 };
    expect((await finish(browser, provider.answerTo(url))).status).toBe(503);
  });
});

describe('signing out', () => {
  test('ends our session, then leads to the provider’s page; the next sign-in asks who it is', async () => {
    const { browser } = await signIn();
    const { cookies = {} } = structuredClone(browser);
    const answer = await call(browser, 'DELETE', '/session');
    const url = new URL(String(answer.body['end_session_url']));
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/end`);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${origin}/operator/`);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^eyJ/);
    expect((await call({ cookies }, 'GET', '/session')).status).toBe(401);
    expect(new URL(await begin({}, true)).searchParams.get('prompt')).toBe('login');
    expect(new URL(await begin({})).searchParams.get('prompt')).toBeNull();
  });

  const logOut = (token: string | undefined, headers: Record<string, string> = {}) =>
    fetch(`${suite.account.privateUrl}/operator/oidc/back-channel-logout`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(token === undefined ? {} : { logout_token: token }),
    });

  test('at the provider ends the session that it names, or all of someone, once', async () => {
    provider.claims = { ...ADA, sid: 'one' };
    const one = await signIn();
    provider.claims = { ...ADA, sid: 'two' };
    const two = await signIn();
    provider.claims = { ...ADA, sub: 'eve', sid: 'three' };
    const eve = await signIn();
    const statuses = () =>
      Promise.all(
        [one, two, eve].map(async ({ browser }) => (await call(browser, 'GET', '/session')).status),
      );
    const token = await provider.logoutToken({ jti: 'j1', sid: 'one' });
    expect((await logOut(token)).status).toBe(200);
    expect(await statuses()).toEqual([401, 200, 200]);
    expect((await entriesOf('operator_session_ended').first()) as unknown).toMatchObject({
      details: { by: 'identity_provider', operator: { name: 'Ada' } },
    });
    expect((await logOut(token)).status).toBe(400);
    // Of someone else's session: nothing of it ends.
    const mixed = await provider.logoutToken({ jti: 'j2', sid: 'two', sub: 'eve' });
    expect((await logOut(mixed)).status).toBe(200);
    expect(await statuses()).toEqual([401, 200, 200]);
    expect((await logOut(await provider.logoutToken({ jti: 'j3', sub: 'ada' }))).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 200]);
  });

  test('at the provider ends a session that it never named, with any of the same person there', async () => {
    provider.claims = { ...ADA, sub: 'mae' };
    const { browser } = await signIn();
    const status = async () => (await call(browser, 'GET', '/session')).status;
    // Whose it is isn't said.
    expect((await logOut(await provider.logoutToken({ jti: 'm1', sid: 'any' }))).status).toBe(200);
    expect(await status()).toBe(200);
    expect((await logOut(await provider.logoutToken({ jti: 'm2', sid: 'any', sub: 'mae' }))).status).toBe(
      200,
    );
    expect(await status()).toBe(401);
  });

  test('at the provider is heard however many sign out; forged tokens count against their address', async () => {
    const address = '203.0.113.9';
    const at = { 'x-forwarded-for': address };
    for (const jti of ['many-1', 'many-2']) {
      expect((await logOut(await provider.logoutToken({ jti, sub: 'many' }), at)).status).toBe(200);
    }
    expect(await attemptsOf(address)).toBe(0);
    expect((await logOut('x', at)).status).toBe(400);
    expect(await attemptsOf(address)).toBe(1);
    await exhaust(address);
    expect((await logOut('x', at)).status).toBe(429);
    expect((await logOut(await provider.logoutToken({ jti: 'many-3', sub: 'many' }), at)).status).toBe(200);
  });

  test('at the provider isn’t believed without its token', async () => {
    const { browser } = await signIn();
    const now = Math.floor(Date.now() / 1_000);
    const forged = [
      provider.logoutToken({ jti: 'k1', sub: 'ada' }, { key: 'foreign' }),
      provider.logoutToken({ jti: 'k2', sub: 'ada' }, { key: 'none' }),
      provider.logoutToken({ jti: 'k3', sub: 'ada' }, { key: 'client_secret' }),
      provider.logoutToken({ jti: 'k0', sub: 'ada' }, { key: 'ES512' }),
      provider.logoutToken({ jti: 'k4', sub: 'ada', aud: 'another' }),
      provider.logoutToken({ jti: 'k5', sub: 'ada', iss: 'https://elsewhere.example' }),
      provider.logoutToken({ jti: 'k6', sub: 'ada', nonce: 'n' }),
      provider.logoutToken({ jti: 'k7', sub: 'ada', events: {} }),
      provider.logoutToken({ jti: 'k8', sub: 'ada', iat: now - 900, exp: now + 900 }),
      provider.logoutToken({ jti: 'k9' }),
      provider.logoutToken({ sub: 'ada' }),
    ];
    for (const token of await Promise.all(forged)) expect((await logOut(token)).status).toBe(400);
    for (const token of [undefined, 'x', '']) expect((await logOut(token)).status).toBe(400);
    expect((await call(browser, 'GET', '/session')).status).toBe(200);
  });
});

describe('removing', () => {
  test('someone who is an admin by the provider is told to all admins', async () => {
    provider.claims = { ...ADA, sub: 'root', email: 'root@example.com', groups: ['root, too'] };
    const { answer } = await signIn();
    expect(answer.body).toMatchObject({ role: 'admin' });
    const path = `/private/operators/${String(answer.body['operator_id'])}`;
    expect((await operatePath(suite.account, 'DELETE', path)).status).toBe(204);
    const subject = '[Tollgate] An admin among the operators was removed';
    await mailAbout(join(directory, 'mails'), 'root@example.com', subject);
  });

  test('someone ends their sessions; the last local admin may go', async () => {
    await suite.database('operators').delete();
    const { browser, answer } = await signIn();
    const { body } = await operatePath(suite.account, 'POST', '/private/operators', {
      name: 'Last',
      email: 'last@example.com',
      role: 'admin',
    });
    const { operator_id } = body['operator'] as { operator_id: number };
    const passkey = { credential_id: 'x', operator_id, public_key: Buffer.from('k'), sign_count: 0 };
    await suite.database('operator_passkeys').insert(passkey);
    for (const id of [operator_id, Number(answer.body['operator_id'])]) {
      const path = `/private/operators/${String(id)}`;
      expect((await operatePath(suite.account, 'DELETE', path)).status).toBe(204);
    }
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
  });
});

test('without the settings it isn’t there, and sessions of before have ended', async () => {
  const { browser } = await signIn();
  const other = await startOperatedAccount({
    databaseUrl: suite.databaseUrl,
    settings: { OPERATORS_URL: `${origin}/operator` },
  });
  try {
    expect((await callConsole(other.account, browser, 'GET', '/session')).status).toBe(401);
    const begun = await callConsole(other.account, {}, 'POST', '/sign-in/oidc/authorization', {
      again: false,
    });
    expect(begun.status).toBe(404);
  } finally {
    await other.close();
  }
  expect((await call({}, 'GET', '/sign-in')).body).toMatchObject({ oidc: { issuer: provider.issuer } });
});

test('no secret is in the log', async () => {
  const browser: OperatorBrowser = {};
  const parameters = provider.answerTo(await begin(browser));
  await fetch(`${suite.account.privateUrl}/operator/oidc/callback?${parameters}`);
  await finish(browser, parameters);
  provider.lie = { key: 'foreign' };
  await signIn();
  const log = suite.account.logs();
  expect(log).toContain('an operator could not sign in by the identity provider');
  const codes = provider.tokenRequests
    .map((form) => form.get('code'))
    .filter((code) => code?.startsWith('code-'));
  const sent = [...codes, ...provider.tokenRequests.map((form) => form.get('code_verifier'))];
  for (const secret of [...sent, provider.clientSecret, 'access-of-ada', 'eyJ', 'code=']) {
    expect(log).not.toContain(String(secret));
  }
});
