import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  insertPerson,
  mailsTo,
  mailAbout,
  nthMail,
  openBrowser,
  signedInBrowser,
  startPeople,
} from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const newEmail = () => `Moved-${randomUUID()}@example.com`;

async function signedIn() {
  const person = await insertPerson(suite.database);
  const browser = await signedInBrowser(suite.account, person);
  const changeEmail = (email: string, current_password = person.password) =>
    browser.request('POST', '/account/email', { email, current_password });
  return { person, browser, changeEmail };
}

const verify = (token: string | undefined) =>
  openBrowser(suite.account).request('POST', '/verify-email', { token });

describe('changing the email address', () => {
  test('counts when the new one is verified; the old one is told, and its links end', async () => {
    const { person, browser, changeEmail } = await signedIn();
    const email = newEmail();
    await browser.request('POST', '/password-reset', { email: person.email });
    const reset = await nthMail(suite.mailDirectory, person.email);
    expect((await changeEmail(email)).status).toBe(202);
    const { token } = await nthMail(suite.mailDirectory, email);
    expect((await browser.request('GET', '/session')).body['email']).toBe(person.email);

    expect((await verify(token)).body).toEqual({ email });
    expect((await browser.request('GET', '/session')).body['email']).toBe(email);
    await mailAbout(suite.mailDirectory, person.email, '[Tollgate] Your email address was changed');
    const late = { token: reset.token, password: 'another good one' };
    expect((await browser.request('POST', '/password-reset/confirm', late)).status).toBe(400);
    expect((await verify(token)).status).toBe(400);
    await signedInBrowser(suite.account, { ...person, email });
    const { account_id } = person;
    expect(await suite.database('audit_log').where({ account_id }).orderBy('audit_id')).toMatchObject([
      { action: 'signed_in' },
      { action: 'password_reset_requested', actor: 'unknown' },
      { action: 'email_change_requested', details: { email }, actor: `account:${String(account_id)}` },
      { action: 'email_changed', details: { email, email_before: person.email } },
      { action: 'signed_in' },
    ]);
  });

  test('needs the password', async () => {
    const { changeEmail } = await signedIn();
    const { status, body } = await changeEmail(newEmail(), 'wrong');
    expect([status, body['errors']]).toEqual([400, [{ field: 'current_password', message: 'is wrong' }]]);
  });

  test('to that of another account is told to that address alone', async () => {
    const { changeEmail } = await signedIn();
    const other = await insertPerson(suite.database);
    expect((await changeEmail(other.email)).status).toBe(202);
    const mail = await nthMail(suite.mailDirectory, other.email);
    expect([mail.subject, mail.token]).toEqual([
      '[Tollgate] Your email address is already in use',
      undefined,
    ]);
  });

  test('by two accounts to one address, both verified at once: one of them has it', async () => {
    const both = [await signedIn(), await signedIn()];
    const email = newEmail();
    for (const { changeEmail } of both) await changeEmail(email);
    const mails = [await nthMail(suite.mailDirectory, email), await nthMail(suite.mailDirectory, email, 2)];
    const answers = await Promise.all(mails.map(({ token }) => verify(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const rows = await suite.database('accounts').where({ email });
    expect(rows).toHaveLength(1);
  });

  test('never sends to an address that is none', async () => {
    const { changeEmail } = await signedIn();
    for (const email of [
      'a@b',
      'a@b.example\r\nBcc: c@d.example',
      'ä@example.com',
      '"a b"@example.com',
      '',
    ]) {
      const { status, body } = await changeEmail(email);
      expect([status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'email']);
    }
    expect(mailsTo(suite.mailDirectory, 'c@d.example')).toEqual([]);
  });
});

describe('changing the name', () => {
  test('is shown at once', async () => {
    const { browser } = await signedIn();
    const name = 'Zoë 😀';
    const answer = await browser.request('PATCH', '/account', { name });
    expect([answer.status, answer.body['name']]).toEqual([200, name]);
    expect((await browser.request('GET', '/session')).body).toEqual(answer.body);
  });

  test('to one that is too long, empty or has control characters is 400', async () => {
    const { browser } = await signedIn();
    for (const name of ['', '  ', 'x'.repeat(201), 'a\nb', '\0', '\ud800', 7]) {
      const { status, body } = await browser.request('PATCH', '/account', { name });
      expect([status, (body['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'name']);
    }
  });
});
