import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mailAbout, nthMail, openBrowser, startPeople } from '../../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../../test/suite/people.ts';
import {
  forgetUsedCodes,
  isSignedIn,
  passwordStep,
  totpCode,
  withTotp,
} from '../../../../test/suite/stand-ins/two-factor.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const audited = async (account_id: number): Promise<string[]> =>
  suite.database('audit_log').where({ account_id }).orderBy('audit_id').pluck('action');

describe('with an authenticator app, the password', () => {
  test('is answered with the second step, and opens nothing', async () => {
    const owner = await withTotp(suite);
    const { email, password } = owner;
    const browser = openBrowser(suite.account);
    const { status, body, headers } = await browser.request('POST', '/session', { email, password });
    expect([status, body['factors'], headers.getSetCookie()]).toEqual([202, ['totp', 'recovery_code'], []]);
    const token = String(body['sign_in_token']);
    browser.cookie = `tollgate_session=${token}`;
    expect(await isSignedIn(browser)).toBe(false);
    const sessions = await suite.database('sessions').where({ account_id: owner.account_id });
    expect(sessions).toHaveLength(1);
    const rows = await suite
      .database('pending_sign_ins')
      .select(suite.database.raw('pending_sign_ins::text AS row'));
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test('that is wrong is answered as ever, so that nobody learns of the second factor', async () => {
    const { email } = await withTotp(suite);
    const { status, body } = await openBrowser(suite.account).request('POST', '/session', {
      email,
      password: 'wrong',
    });
    expect([status, body['code']]).toEqual([401, 'invalid_credentials']);
  });

  test('and a code begin the session, which ends the one that the browser had', async () => {
    const owner = await withTotp(suite);
    const { sign_in_token } = await passwordStep(suite, owner);
    const answer = await owner.browser.request('POST', '/session/totp', {
      sign_in_token,
      code: totpCode(owner.secret, 1),
    });
    expect([answer.status, answer.body['email']]).toEqual([201, owner.email]);
    expect(await isSignedIn(owner.browser)).toBe(true);
    expect(await suite.database('sessions').where({ account_id: owner.account_id })).toHaveLength(1);
    const signedIn = await suite
      .database('audit_log')
      .where({ account_id: owner.account_id, action: 'signed_in' })
      .orderBy('audit_id')
      .pluck<object[]>('details');
    expect(signedIn).toEqual([{}, { second_factor: 'totp' }]);
  });
});

describe('a code of the app', () => {
  test('is accepted once, also where it has enabled the app, and only codes of later steps after it', async () => {
    const owner = await withTotp(suite);
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    const enter = (code: string) => browser.request('POST', '/session/totp', { sign_in_token, code });
    expect((await enter(owner.usedCode)).status).toBe(400);
    expect((await enter(owner.nextCode)).status).toBe(201);
    const again = await passwordStep(suite, owner);
    for (const code of [owner.nextCode, owner.usedCode]) {
      const { status, body } = await again.browser.request('POST', '/session/totp', {
        sign_in_token: again.sign_in_token,
        code,
      });
      expect([status, body['errors']]).toEqual([
        400,
        [{ field: 'code', message: 'is wrong, expired or already used' }],
      ]);
    }
  });

  test('used by many sign-ins at once signs one of them in', async () => {
    const owner = await withTotp(suite);
    const pending = await Promise.all(Array.from({ length: 6 }, () => passwordStep(suite, owner)));
    const code = totpCode(owner.secret, 1);
    const answers = await Promise.all(
      pending.map(({ browser, sign_in_token }) =>
        browser.request('POST', '/session/totp', { sign_in_token, code }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  });

  test('of another step than the neighbours is wrong; spaces are not', async () => {
    const owner = await withTotp(suite);
    await forgetUsedCodes(suite.database, owner);
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    for (const steps of [-3, 3]) {
      const code = totpCode(owner.secret, steps);
      expect((await browser.request('POST', '/session/totp', { sign_in_token, code })).status).toBe(400);
    }
    const code = totpCode(owner.secret).replace(/^(...)/, '$1 ');
    expect((await browser.request('POST', '/session/totp', { sign_in_token, code })).status).toBe(201);
  });
});

describe('a recovery code', () => {
  test('signs in once, however it is typed, and the owner is told how many are left', async () => {
    const owner = await withTotp(suite);
    expect(owner.codes).toHaveLength(10);
    const [first = '', second = ''] = owner.codes;
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    const code = ` ${first.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'I')}`;
    expect((await browser.request('POST', '/session/recovery-code', { sign_in_token, code })).status).toBe(
      201,
    );
    expect((await browser.request('GET', '/two-factor')).body['recovery_codes_left']).toBe(9);
    const mail = await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Recovery code used');
    expect(mail.text).toContain('9 unused codes are left');
    const again = await passwordStep(suite, owner);
    const enter = (text: string) =>
      again.browser.request('POST', '/session/recovery-code', {
        sign_in_token: again.sign_in_token,
        code: text,
      });
    expect((await enter(first)).status).toBe(400);
    expect((await enter(second)).status).toBe(201);
    expect(await audited(owner.account_id)).toEqual([
      'signed_in',
      'totp_added',
      'recovery_code_used',
      'signed_in',
      'recovery_code_used',
      'signed_in',
    ]);
  });

  test('used by many sign-ins at once signs one of them in', async () => {
    const owner = await withTotp(suite);
    const pending = await Promise.all(Array.from({ length: 6 }, () => passwordStep(suite, owner)));
    const answers = await Promise.all(
      pending.map(({ browser, sign_in_token }) =>
        browser.request('POST', '/session/recovery-code', { sign_in_token, code: owner.codes[3] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
  });

  test('of another account, of a former set, or of no set is refused', async () => {
    const [owner, other] = [await withTotp(suite), await withTotp(suite)];
    const { body } = await owner.browser.request('POST', '/two-factor/recovery-codes');
    expect(body['recovery_codes']).toHaveLength(10);
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    for (const code of [other.codes[0], owner.codes[0], 'nonsense']) {
      const answer = await browser.request('POST', '/session/recovery-code', { sign_in_token, code });
      expect([code, answer.status]).toEqual([code, 400]);
    }
  });
});

describe('a pending sign-in', () => {
  test('is good for one session, of two right codes at once', async () => {
    const owner = await withTotp(suite);
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    const answers = await Promise.all(
      owner.codes
        .slice(0, 4)
        .map((code) => browser.request('POST', '/session/recovery-code', { sign_in_token, code })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
    // Those that came too late have used nothing up.
    expect((await owner.browser.request('GET', '/two-factor')).body['recovery_codes_left']).toBe(9);
  });

  test('that is unknown or has expired is 401', async () => {
    const owner = await withTotp(suite);
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    await suite
      .database('pending_sign_ins')
      .where({ account_id: owner.account_id })
      .update({ expires_at: new Date() });
    for (const token of [sign_in_token, 'A'.repeat(43), 'nonsense', '']) {
      const answer = await browser.request('POST', '/session/recovery-code', {
        sign_in_token: token,
        code: owner.codes[0],
      });
      expect([token, answer.status, answer.body['code']]).toEqual([token, 401, 'unauthorized']);
    }
  });

  test('ends with a change of the password, with signing out everywhere, and with a reset', async () => {
    const owner = await withTotp(suite);
    const enter = async ({ browser, sign_in_token }: Awaited<ReturnType<typeof passwordStep>>, code = '') =>
      (await browser.request('POST', '/session/recovery-code', { sign_in_token, code })).status;
    const everywhere = await passwordStep(suite, owner);
    const before = await passwordStep(suite, owner);
    const new_password = 'another good one';
    const wanted = { current_password: owner.password, new_password };
    expect((await owner.browser.request('PUT', '/account/password', wanted)).status).toBe(200);
    expect(await enter(before, owner.codes[0])).toBe(401);
    expect(await enter(everywhere, owner.codes[0])).toBe(401);
    const changed = { ...owner, password: new_password };
    const last = await passwordStep(suite, changed);
    expect((await owner.browser.request('DELETE', '/sessions')).status).toBe(204);
    expect(await enter(last, owner.codes[0])).toBe(401);
  });
});

test('a password that was reset by mail still needs the second step', async () => {
  const owner = await withTotp(suite);
  const stranger = openBrowser(suite.account);
  expect((await stranger.request('POST', '/password-reset', { email: owner.email })).status).toBe(202);
  const { token } = await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Reset your password');
  const password = 'another good one';
  const confirmed = await stranger.request('POST', '/password-reset/confirm', { token, password });
  expect([confirmed.status, confirmed.headers.getSetCookie()]).toEqual([204, []]);
  const { factors, sign_in_token } = await passwordStep(suite, { ...owner, password });
  expect(factors).toEqual(['totp', 'recovery_code']);
  const wrong = await stranger.request('POST', '/session/totp', { sign_in_token, code: '000000' });
  expect(wrong.status).toBe(400);
  expect(await isSignedIn(stranger)).toBe(false);
});

test('a new address that was confirmed by mail changes nothing about the second step', async () => {
  const owner = await withTotp(suite);
  const email = `moved-${owner.email}`;
  const wanted = { email, current_password: owner.password };
  expect((await owner.browser.request('POST', '/account/email', wanted)).status).toBe(202);
  const { token } = await nthMail(suite.mailDirectory, email);
  const browser = openBrowser(suite.account);
  const verified = await browser.request('POST', '/verify-email', { token });
  expect([verified.status, verified.headers.getSetCookie()]).toEqual([200, []]);
  expect((await passwordStep(suite, { ...owner, email })).factors).toEqual(['totp', 'recovery_code']);
});
