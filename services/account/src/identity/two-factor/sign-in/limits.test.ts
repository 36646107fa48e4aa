import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  insertPerson,
  mailsTo,
  mailAbout,
  openBrowser,
  signedInBrowser,
  startPeople,
} from '../../../../test/suite/people.ts';
import type { Browser, PeopleUnderTest } from '../../../../test/suite/people.ts';
import type { Authenticator } from '../../../../test/suite/stand-ins/authenticator.ts';
import {
  PUBLIC_URL,
  addPasskey,
  passwordStep,
  totpCode,
  withTotp,
} from '../../../../test/suite/stand-ins/two-factor.ts';
import type { Protected } from '../../../../test/suite/stand-ins/two-factor.ts';

const PER_ADDRESS = 20;

const UNKNOWN = () => ({ email: `${randomUUID()}@example.com`, password: 'wrong' });

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({
    SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS: '4',
    PUBLIC_URL,
    SIGN_IN_FAILURES_PER_ADDRESS: String(PER_ADDRESS),
    SIGN_IN_WINDOW_SEC: '600',
  });
});

afterAll(async () => {
  await suite.close();
});

afterEach(async () => {
  await suite.database('attempt_counts').delete();
});

/** A wrong code that is never right by chance. */
function wrongCode(secret: string): string {
  const near = [-2, -1, 0, 1, 2, 3].map((steps) => totpCode(secret, steps));
  return ['000000', '111111', '222222', '333333', '444444', '555555', '666666'].find(
    (code) => !near.includes(code),
  ) as string;
}

async function enterWrong(owner: Protected, address: string, times: number): Promise<number[]> {
  const { browser, sign_in_token } = await passwordStep(suite, owner, address);
  const code = wrongCode(owner.secret);
  const statuses = [];
  for (let count = 0; count < times; count += 1) {
    statuses.push((await browser.request('POST', '/session/totp', { sign_in_token, code })).status);
  }
  return statuses;
}

async function enterRight(owner: Protected, address: string): Promise<number> {
  const { browser, sign_in_token } = await passwordStep(suite, owner, address);
  const code = totpCode(owner.secret, 1);
  return (await browser.request('POST', '/session/totp', { sign_in_token, code })).status;
}

test('wrong codes over the limit of account and address are 429, and the owner is told once', async () => {
  const owner = await withTotp(suite);
  expect(await enterWrong(owner, '192.0.2.1', 7)).toEqual([400, 400, 400, 400, 429, 429, 429]);
  const { browser, sign_in_token } = await passwordStep(suite, owner, '192.0.2.1');
  const limited = await browser.request('POST', '/session/totp', {
    sign_in_token,
    code: totpCode(owner.secret, 1),
  });
  expect([limited.status, limited.body['code']]).toEqual([429, 'too_many_requests']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(500);
  await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Sign-in stopped at the second step');
  expect(await enterRight(owner, '192.0.2.2')).toBe(201);
  expect(mailsTo(suite.mailDirectory, owner.email)).toHaveLength(2);
  const audit = await suite
    .database('audit_log')
    .where({ account_id: owner.account_id, action: 'sign_in_limited' });
  expect(audit).toMatchObject([{ actor: 'unknown', address: '192.0.2.1', details: { step: 'second' } }]);
});

test('of wrong codes at once no more than the limit are told that they are wrong', async () => {
  const owner = await withTotp(suite);
  const { browser, sign_in_token } = await passwordStep(suite, owner, '192.0.2.3');
  const code = wrongCode(owner.secret);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => browser.request('POST', '/session/totp', { sign_in_token, code })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array<number>(4).fill(400), ...Array<number>(16).fill(429)]);
});

test('30 wrong codes from any addresses stop the app, but neither a recovery code nor a new password', async () => {
  const owner = await withTotp(suite);
  const statuses = [];
  for (let address = 1; address <= 8; address += 1) {
    statuses.push(...(await enterWrong(owner, `198.51.100.${String(address)}`, 4)));
  }
  expect(statuses).toEqual([...Array<number>(30).fill(400), 429, 429]);
  expect(await enterRight(owner, '192.0.2.4')).toBe(429);
  const { browser, sign_in_token } = await passwordStep(suite, owner, '192.0.2.4');
  const code = owner.codes[0];
  expect((await browser.request('POST', '/session/recovery-code', { sign_in_token, code })).status).toBe(201);
  const wanted = { current_password: owner.password, new_password: 'another good one' };
  expect((await browser.request('PUT', '/account/password', wanted)).status).toBe(200);
  expect(await enterRight({ ...owner, password: 'another good one' }, '192.0.2.4')).toBe(201);
});

test('wrong codes that would enable the app count alike: a stolen session can’t find the first one', async () => {
  const owner = await insertPerson(suite.database);
  const [browser, stolen] = [
    await signedInBrowser(suite.account, owner),
    await signedInBrowser(suite.account, owner),
  ];
  const secret = String((await browser.request('POST', '/two-factor/totp')).body['secret']);
  const enable = async (code: string) =>
    (await stolen.request('POST', '/two-factor/totp/confirm', { code })).status;
  const statuses = [];
  for (let count = 0; count < 5; count += 1) statuses.push(await enable(wrongCode(secret)));
  expect(statuses).toEqual([400, 400, 400, 400, 429]);
  expect(await enable(totpCode(secret))).toBe(429);
  expect((await browser.request('GET', '/two-factor')).body).toMatchObject({ enabled: false });
});

const options = async ({ request }: Browser, status = 200) => {
  const answer = await request('POST', '/session/passkey/options', {});
  expect(answer.status).toBe(status);
  return answer.body;
};

async function signInWith(authenticator: Authenticator, browser: Browser): Promise<number> {
  const credential = authenticator.get(await options(browser));
  return (await browser.request('POST', '/session/passkey', { credential })).status;
}

test('a passkey that signs in gives its own attempt back, and none of the failed ones', async () => {
  const owner = await insertPerson(suite.database);
  const authenticator = await addPasskey(await signedInBrowser(suite.account, owner));
  const address = '192.0.2.7';
  const browser = openBrowser(suite.account, address);
  const fail = () => openBrowser(suite.account, address).request('POST', '/session', UNKNOWN());
  const failed: number[] = [];
  for (let count = 0; count < PER_ADDRESS - 1; count += 1) failed.push((await fail()).status);
  expect(new Set(failed)).toEqual(new Set([401]));
  expect([await signInWith(authenticator, browser), await signInWith(authenticator, browser)]).toEqual([
    201, 201,
  ]);
  expect([(await fail()).status, (await fail()).status]).toEqual([401, 429]);
});

test('any number of sign-ins by passkey from one address is good', async () => {
  const owner = await insertPerson(suite.database);
  const authenticator = await addPasskey(await signedInBrowser(suite.account, owner));
  const browser = openBrowser(suite.account, '192.0.2.8');
  const statuses: number[] = [];
  for (let count = 0; count < PER_ADDRESS + 1; count += 1) {
    statuses.push(await signInWith(authenticator, browser));
  }
  expect(new Set(statuses)).toEqual(new Set([201]));
  // Unanswered challenges count.
  for (let count = 0; count < PER_ADDRESS; count += 1) await options(browser);
  await options(browser, 429);
});

test('right codes never count', async () => {
  const owner = await withTotp(suite);
  for (const code of owner.codes) {
    const { browser, sign_in_token } = await passwordStep(suite, owner, '192.0.2.6');
    const { status } = await browser.request('POST', '/session/recovery-code', { sign_in_token, code });
    expect(status).toBe(201);
  }
});
