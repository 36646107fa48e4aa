import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { operatePath as operate, operatorCredentials } from '../../../test/suite/operator.ts';
import {
  insertPerson,
  mailAbout,
  nthMail,
  openBrowser,
  signedInBrowser,
  startPeople,
} from '../../../test/suite/people.ts';
import type { Browser, PeopleUnderTest } from '../../../test/suite/people.ts';
import {
  PUBLIC_URL,
  addPasskey,
  isSignedIn,
  passwordStep,
  totpCode,
  withTotp,
} from '../../../test/suite/stand-ins/two-factor.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({
    PUBLIC_URL,
    OPERATOR_CREDENTIALS: operatorCredentials,
    SUPPORT_URL: 'https://help.example.com/',
  });
});

afterAll(async () => {
  await suite.close();
});

const WRONG_CODE = { field: 'code', message: 'is wrong, expired or already used' };

const signedIn = async () => signedInBrowser(suite.account, await insertPerson(suite.database));

async function enableTotp(browser: Browser): Promise<void> {
  const { body } = await browser.request('POST', '/two-factor/totp');
  const code = totpCode(String(body['secret']));
  expect((await browser.request('POST', '/two-factor/totp/confirm', { code })).status).toBe(200);
}

/** As if its password had been entered longer ago than a confirmation lasts. */
async function makeUnconfirmed(browser: Browser): Promise<void> {
  const { session_id } = (await browser.request('GET', '/session')).body;
  await suite
    .database('sessions')
    .where({ session_id: Number(session_id) })
    .update({ confirmed_at: new Date(Date.now() - 901_000) });
}

describe('setting up the app', () => {
  test('gives a secret that counts only once a code has confirmed it', async () => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const former = String((await browser.request('POST', '/two-factor/totp')).body['secret']);
    const { status, body } = await browser.request('POST', '/two-factor/totp');
    const secret = String(body['secret']);
    expect([status, secret]).toEqual([201, expect.stringMatching(/^[A-Z2-7]{32}$/)]);
    const url = new URL(String(body['otpauth_url']));
    expect([url.href.slice(0, 15), url.searchParams.get('secret')]).toEqual(['otpauth://totp/', secret]);
    expect(decodeURIComponent(url.pathname)).toContain(`Tollgate:${person.email}`);
    expect((await browser.request('GET', '/two-factor')).body).toEqual({
      enabled: false,
      totp: null,
      passkeys: [],
      recovery_codes_left: 0,
    });
    expect(await isSignedIn(await signedInBrowser(suite.account, person))).toBe(true);
    const confirm = (code: string) => browser.request('POST', '/two-factor/totp/confirm', { code });
    expect((await confirm(totpCode(former))).body['errors']).toEqual([
      { field: 'code', message: 'is wrong or expired' },
    ]);
    expect((await confirm('12345')).status).toBe(400);
    expect((await confirm(totpCode(secret))).body['recovery_codes']).toHaveLength(10);
    expect((await browser.request('GET', '/two-factor')).body).toMatchObject({
      enabled: true,
      totp: { enabled_at: expect.any(String) },
      recovery_codes_left: 10,
    });
    expect((await browser.request('POST', '/two-factor/totp')).body['code']).toBe('totp_enabled');
    expect((await confirm(totpCode(secret, 1))).status).toBe(400);
    expect((await nthMail(suite.mailDirectory, person.email)).subject).toBe(
      '[Tollgate] Authenticator app added',
    );
  });

  test('by many at once makes one set of recovery codes', async () => {
    const browser = await signedIn();
    const { body } = await browser.request('POST', '/two-factor/totp');
    const code = totpCode(String(body['secret']));
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => browser.request('POST', '/two-factor/totp/confirm', { code })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect((await browser.request('GET', '/two-factor')).body['recovery_codes_left']).toBe(10);
  });

  test('leaves neither the secret nor a code in Postgres or in the log', async () => {
    const { secret, codes } = await withTotp(suite);
    const tables = ['totp_secrets', 'recovery_codes', 'audit_log', 'mail_outbox'];
    const rows = await Promise.all(
      tables.map((table) => suite.database(table).select(suite.database.raw('??::text AS row', [table]))),
    );
    const text = JSON.stringify(rows) + suite.account.logs();
    for (const canary of [secret, Buffer.from(secret).toString('hex'), ...codes]) {
      expect(text).not.toContain(canary);
    }
  });

  test('is undone: the password is enough again, and the recovery codes are gone', async () => {
    const owner = await withTotp(suite);
    expect((await owner.browser.request('DELETE', '/two-factor/totp')).status).toBe(204);
    expect((await owner.browser.request('DELETE', '/two-factor/totp')).status).toBe(404);
    expect((await owner.browser.request('GET', '/two-factor')).body).toMatchObject({
      enabled: false,
      recovery_codes_left: 0,
    });
    const renewed = await owner.browser.request('POST', '/two-factor/recovery-codes');
    expect([renewed.status, renewed.body['code']]).toEqual([409, 'two_factor_disabled']);
    expect(await isSignedIn(await signedInBrowser(suite.account, owner))).toBe(true);
    await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Authenticator app removed');
  });

  test('beside a passkey, removing one of the two keeps the second step and the codes', async () => {
    const owner = await withTotp(suite);
    await addPasskey(owner.browser);
    expect((await passwordStep(suite, owner)).factors).toEqual(['totp', 'passkey', 'recovery_code']);
    expect((await owner.browser.request('DELETE', '/two-factor/totp')).status).toBe(204);
    expect((await passwordStep(suite, owner)).factors).toEqual(['passkey', 'recovery_code']);
    expect((await owner.browser.request('GET', '/two-factor')).body['recovery_codes_left']).toBe(10);
  });
});

describe('a session that was not confirmed lately', () => {
  test.each([
    ['POST', '/two-factor/totp'],
    ['DELETE', '/two-factor/totp'],
    ['POST', '/two-factor/passkeys/options'],
    ['DELETE', '/two-factor/passkeys/1'],
    ['POST', '/two-factor/recovery-codes'],
  ])('%s %s is 403 until the second factor is shown again, not the password', async (method, path) => {
    const { browser, password, nextCode, usedCode } = await withTotp(suite);
    await makeUnconfirmed(browser);
    const refused = await browser.request(method, path);
    expect([refused.status, refused.body['code']]).toEqual([403, 'confirmation_required']);
    const alone = await browser.request('POST', '/session/confirm', { password });
    expect([alone.status, alone.body['code']]).toEqual([409, 'second_factor_required']);
    const wrong = await browser.request('POST', '/session/confirm/totp', { code: usedCode });
    expect([wrong.status, wrong.body['errors']]).toEqual([400, [WRONG_CODE]]);
    expect((await browser.request(method, path)).status).toBe(403);
    expect((await browser.request('POST', '/session/confirm/totp', { code: nextCode })).status).toBe(204);
    expect((await browser.request(method, path)).status).not.toBe(403);
  });

  test('is not confirmed by a change of the password where there is a second factor', async () => {
    const { browser, password: current_password } = await withTotp(suite);
    await makeUnconfirmed(browser);
    const wanted = { current_password, new_password: 'another good one' };
    expect((await browser.request('PUT', '/account/password', wanted)).status).toBe(200);
    for (const path of ['/two-factor/passkeys/options', '/two-factor/recovery-codes']) {
      expect((await browser.request('POST', path)).body['code']).toBe('confirmation_required');
    }
    expect((await browser.request('DELETE', '/two-factor/totp')).body['code']).toBe('confirmation_required');
  });

  test('is confirmed by a change of the password alone where that is all that a sign-in needs', async () => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    await makeUnconfirmed(browser);
    const wanted = { current_password: person.password, new_password: 'another good one' };
    expect((await browser.request('PUT', '/account/password', wanted)).status).toBe(200);
    expect((await browser.request('POST', '/two-factor/totp')).status).toBe(201);
  });

  test('is confirmed by a recovery code, once, and the owner is told', async () => {
    const owner = await withTotp(suite);
    await makeUnconfirmed(owner.browser);
    const confirm = (code?: string) =>
      owner.browser.request('POST', '/session/confirm/recovery-code', { code });
    const [code] = owner.codes;
    expect((await confirm(code)).status).toBe(204);
    const again = await confirm(code);
    expect([again.status, again.body['errors']]).toEqual([400, [WRONG_CODE]]);
    expect((await owner.browser.request('DELETE', '/two-factor/totp')).status).toBe(204);
    await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Recovery code used');
  });

  test('guesses of its codes count with those of sign-ins', async () => {
    const owner = await withTotp(suite);
    const guess = () => owner.browser.request('POST', '/session/confirm/totp', { code: owner.usedCode });
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await guess()).status);
    expect(new Set(statuses.slice(0, 10))).toEqual(new Set([400]));
    expect(statuses[10]).toBe(429);
    const { sign_in_token, browser } = await passwordStep(suite, owner, owner.browser.address);
    const step = { sign_in_token, code: owner.nextCode };
    expect((await browser.request('POST', '/session/totp', step)).status).toBe(429);
  });

  test.each(['app', 'passkey'])('ends, where another one sets up the first %s', async (factor) => {
    const owner = await insertPerson(suite.database);
    const [one, other] = [
      await signedInBrowser(suite.account, owner),
      await signedInBrowser(suite.account, owner),
    ];
    if (factor === 'passkey') await addPasskey(one);
    else await enableTotp(one);
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([true, false]);
  });

  test('is confirmed alone: the account’s other sessions are not', async () => {
    const owner = await insertPerson(suite.database);
    const [one, other] = [
      await signedInBrowser(suite.account, owner),
      await signedInBrowser(suite.account, owner),
    ];
    await Promise.all([makeUnconfirmed(one), makeUnconfirmed(other)]);
    const { password } = owner;
    expect((await one.request('POST', '/session/confirm', { password })).status).toBe(204);
    expect((await other.request('POST', '/two-factor/totp')).status).toBe(403);
    expect((await one.request('POST', '/two-factor/totp')).status).toBe(201);
  });
});

test('operators reset an owner’s factors: the password is enough, it is audited, and the owner is told', async () => {
  const owner = await withTotp(suite);
  await addPasskey(owner.browser);
  const { browser, sign_in_token } = await passwordStep(suite, owner);
  const path = `/private/accounts/${String(owner.account_id)}/reset-two-factor`;
  const reason = { 'x-reason': 'Lost phone, ticket 4711' };
  const reset = await operate(suite.account, 'POST', path, undefined, reason);
  expect([reset.status, reset.body['account_id']]).toEqual([200, owner.account_id]);
  expect((await operate(suite.account, 'POST', path)).status).toBe(200);
  expect((await operate(suite.account, 'POST', '/private/accounts/999999999/reset-two-factor')).status).toBe(
    404,
  );
  const step = { sign_in_token, code: owner.codes[0] };
  expect((await browser.request('POST', '/session/recovery-code', step)).status).toBe(401);
  expect(await isSignedIn(owner.browser)).toBe(false);
  const again = openBrowser(suite.account);
  const { email, password } = owner;
  expect((await again.request('POST', '/session', { email, password })).status).toBe(201);
  expect((await again.request('GET', '/two-factor')).body).toEqual({
    enabled: false,
    totp: null,
    passkeys: [],
    recovery_codes_left: 0,
  });
  const audit = await suite
    .database('audit_log')
    .where({ account_id: owner.account_id, action: 'two_factor_reset' });
  expect(audit).toMatchObject([{ details: { removed: ['totp', 'passkey', 'recovery_code'] } }]);
  const mail = await mailAbout(
    suite.mailDirectory,
    owner.email,
    '[Tollgate] Two-factor authentication was reset',
  );
  expect(mail.text).toContain('Lost phone, ticket 4711');
  // Where to say that it wasn't them.
  expect(mail.text).toContain('https://help.example.com/');
});
