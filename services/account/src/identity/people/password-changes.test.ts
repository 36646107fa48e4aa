import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  insertPerson,
  mailsTo,
  mailAbout,
  nthMail,
  openBrowser,
  signedInBrowser,
  startPeople,
} from '../../../test/suite/people.ts';
import type { Browser, PeopleUnderTest, Person } from '../../../test/suite/people.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const NEW_PASSWORD = 'another good one';
const isSignedIn = async ({ request }: Browser) => (await request('GET', '/session')).status === 200;

async function signIn({ email }: Person, password: string): Promise<number> {
  return (await openBrowser(suite.account).request('POST', '/session', { email, password })).status;
}

async function resetToken({ email }: Person, count = 1): Promise<string> {
  expect((await openBrowser(suite.account).request('POST', '/password-reset', { email })).status).toBe(202);
  return (await nthMail(suite.mailDirectory, email, count)).token ?? '';
}

const confirm = (token: string, password: string) =>
  openBrowser(suite.account).request('POST', '/password-reset/confirm', { token, password });

const audited = async ({ account_id }: Person): Promise<string[]> =>
  suite.database('audit_log').where({ account_id }).orderBy('audit_id').pluck('action');

describe('changing the password', () => {
  test('ends all other sessions, gives a new one, and tells the owner by mail', async () => {
    const person = await insertPerson(suite.database);
    const [browser, other] = [
      await signedInBrowser(suite.account, person),
      await signedInBrowser(suite.account, person),
    ];
    const stale = openBrowser(suite.account);
    stale.cookie = browser.cookie;
    const answer = await browser.request('PUT', '/account/password', {
      current_password: person.password,
      new_password: NEW_PASSWORD,
    });
    expect([answer.status, answer.body['email']]).toEqual([200, person.email]);
    expect(await Promise.all([browser, other, stale].map(isSignedIn))).toEqual([true, false, false]);
    expect(await signIn(person, person.password)).toBe(401);
    expect(await signIn(person, NEW_PASSWORD)).toBe(201);
    expect((await nthMail(suite.mailDirectory, person.email)).subject).toBe(
      '[Tollgate] Your password was changed',
    );
    expect(await audited(person)).toEqual(['signed_in', 'signed_in', 'password_changed', 'signed_in']);
  });

  test('with a wrong current password changes nothing, and the session stays', async () => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const { status, body } = await browser.request('PUT', '/account/password', {
      current_password: 'wrong',
      new_password: NEW_PASSWORD,
    });
    expect([status, body['errors']]).toEqual([400, [{ field: 'current_password', message: 'is wrong' }]]);
    expect([await isSignedIn(browser), await signIn(person, person.password)]).toEqual([true, 201]);
  });

  test('by many at once: one of them comes to pass, and one session is left', async () => {
    const person = await insertPerson(suite.database);
    const browsers = await Promise.all([1, 2, 3, 4].map(() => signedInBrowser(suite.account, person)));
    const answers = await Promise.all(
      browsers.map(({ request }, index) =>
        request('PUT', '/account/password', {
          current_password: person.password,
          new_password: `${NEW_PASSWORD} ${String(index)}`,
        }),
      ),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await signIn(person, `${NEW_PASSWORD} ${String(winner)}`)).toBe(201);
    const signedIn = await Promise.all(browsers.map(isSignedIn));
    expect(signedIn).toEqual(browsers.map((_, index) => index === winner));
  });

  test('while others sign in with the old one: afterwards no session of the old password lives', async () => {
    for (let round = 0; round < 5; round += 1) {
      const person = await insertPerson(suite.database);
      const browser = await signedInBrowser(suite.account, person);
      const others = Array.from({ length: 6 }, () => openBrowser(suite.account));
      const { email, password } = person;
      const [change] = await Promise.all([
        browser.request('PUT', '/account/password', {
          current_password: password,
          new_password: NEW_PASSWORD,
        }),
        ...others.map(({ request }) => request('POST', '/session', { email, password })),
      ]);
      expect(change.status).toBe(200);
      expect(await Promise.all(others.map(isSignedIn))).toEqual(others.map(() => false));
      expect(await isSignedIn(browser)).toBe(true);
    }
  });

  test.each([
    ['1234567', /8 to 200/],
    ['x'.repeat(201), /8 to 200/],
    ['PassWord123', /commonest/],
    ['zzzzzzzzzzzz', /commonest/],
    ['\ud800 not a text', /Unicode/],
  ])('%p is refused', async (new_password, message) => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const wanted = { current_password: person.password, new_password };
    const { status, body } = await browser.request('PUT', '/account/password', wanted);
    expect([status, body['errors']]).toEqual([
      400,
      [{ field: 'new_password', message: expect.stringMatching(message) }],
    ]);
  });
});

describe('resetting the password', () => {
  test('by the mail’s link ends all sessions and sets the new one', async () => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const token = await resetToken(person);
    const answer = await confirm(token, NEW_PASSWORD);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([204, []]);
    expect([
      await isSignedIn(browser),
      await signIn(person, person.password),
      await signIn(person, NEW_PASSWORD),
    ]).toEqual([false, 401, 201]);
    await mailAbout(suite.mailDirectory, person.email, '[Tollgate] Your password was changed');
    expect(await audited(person)).toEqual([
      'signed_in',
      'password_reset_requested',
      'password_reset',
      'signed_in',
    ]);
  });

  test('for an address without an account is answered alike, and no mail is sent', async () => {
    const known = await insertPerson(suite.database);
    const email = 'nobody-here@example.com';
    const { request } = openBrowser(suite.account);
    const answers = [
      await request('POST', '/password-reset', { email }),
      await request('POST', '/password-reset', { email: known.email }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [202, '{}'],
      [202, '{}'],
    ]);
    // The outbox is worked off in order.
    await nthMail(suite.mailDirectory, known.email);
    expect(mailsTo(suite.mailDirectory, email)).toEqual([]);
  });

  test('two uses of one link at once: one counts', async () => {
    const person = await insertPerson(suite.database);
    const token = await resetToken(person);
    const passwords = [1, 2, 3, 4].map((number) => `${NEW_PASSWORD} ${String(number)}`);
    const answers = await Promise.all(passwords.map((password) => confirm(token, password)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400, 400]);
    const winner = answers.findIndex(({ status }) => status === 204);
    const statuses = await Promise.all(passwords.map((password) => signIn(person, password)));
    expect(statuses).toEqual(passwords.map((_, index) => (index === winner ? 201 : 401)));
  });

  test('two links of one account at once: one counts, and the other is dead', async () => {
    const person = await insertPerson(suite.database);
    const tokens = [await resetToken(person), await resetToken(person, 2)];
    const answers = await Promise.all(tokens.map((token) => confirm(token, NEW_PASSWORD)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
    for (const token of tokens) expect((await confirm(token, NEW_PASSWORD)).status).toBe(400);
  });

  test('with a refused password keeps the link good; an expired or an unknown link is not', async () => {
    const person = await insertPerson(suite.database);
    const token = await resetToken(person);
    const refused = await confirm(token, `my ${person.email}`);
    expect([refused.status, refused.body['errors']]).toEqual([
      400,
      [{ field: 'password', message: 'must not contain the email address' }],
    ]);
    await suite
      .database('email_tokens')
      .where({ account_id: person.account_id })
      .update({ expires_at: new Date() });
    expect((await confirm(token, NEW_PASSWORD)).status).toBe(400);
    expect((await confirm('A'.repeat(43), NEW_PASSWORD)).status).toBe(400);
    expect((await confirm('nonsense', NEW_PASSWORD)).body['errors']).toEqual([
      { field: 'token', message: 'is unknown, used or expired' },
    ]);
    expect(await signIn(person, person.password)).toBe(201);
  });

  test('a change of the password ends the links that were sent before', async () => {
    const person = await insertPerson(suite.database);
    const token = await resetToken(person);
    const browser = await signedInBrowser(suite.account, person);
    const wanted = { current_password: person.password, new_password: NEW_PASSWORD };
    expect((await browser.request('PUT', '/account/password', wanted)).status).toBe(200);
    expect((await confirm(token, 'yet another one')).status).toBe(400);
  });

  test('shows that the mailbox is the owner’s: an address that was not verified is then', async () => {
    const person = await insertPerson(suite.database, { email_verified_at: null });
    expect(await signIn(person, person.password)).toBe(401);
    expect((await confirm(await resetToken(person), NEW_PASSWORD)).status).toBe(204);
    expect(await signIn(person, NEW_PASSWORD)).toBe(201);
  });
});
