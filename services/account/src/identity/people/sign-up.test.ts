import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { waitFor } from '@tollgate/stack/wait-for';
import { hashPassword } from '../passwords/password.ts';
import {
  insertPerson,
  mailsTo,
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

const browser = () => openBrowser(suite.account);
const newPerson = () => ({
  email: `New-${randomUUID()}@example.com`,
  name: 'Ünï 🚪',
});
const password = 'a good long one';
const accountsOf = (email: string) =>
  suite.database('accounts').whereRaw('lower(email) = lower(?)', [email]).select('*');

describe('signing up', () => {
  test('makes an account when the mail’s link is used, and then signing in works', async () => {
    const person = newPerson();
    const { request } = browser();
    const answer = await request('POST', '/sign-up', person);
    expect([answer.status, answer.body, answer.headers.get('cache-control')]).toEqual([202, {}, 'no-store']);
    const { token, subject, text } = await nthMail(suite.mailDirectory, person.email);
    expect(subject).toBe('[Tollgate] Confirm your email address');
    expect(text).toContain(`http://tollgate.example/user/verify-email?for=sign-up&token=${String(token)}`);
    expect(await accountsOf(person.email)).toEqual([]);
    const { email } = person;
    expect((await request('POST', '/session', { email, password })).status).toBe(401);

    const verified = await request('POST', '/verify-email', { token, password });
    expect([verified.status, verified.body]).toEqual([200, { email }]);
    const session = await request('POST', '/session', { email: email.toUpperCase(), password });
    expect([session.status, session.body]).toEqual([
      201,
      {
        account_id: expect.any(Number),
        email,
        name: person.name,
        email_verified: true,
        blocked: false,
        deletion_due_at: null,
        session_id: expect.any(Number),
        expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
        member_role: null,
        sso_required: false,
        csrf_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      },
    ]);
    expect(
      await suite.database('audit_log').where({ account_id: session.body['account_id'] }).orderBy('audit_id'),
    ).toMatchObject([
      {
        action: 'account_created',
        actor: `account:${String(session.body['account_id'])}`,
        details: { email },
      },
      { action: 'signed_in', application_id: null },
    ]);
  });

  test('a link works once', async () => {
    const person = newPerson();
    const { request } = browser();
    await request('POST', '/sign-up', person);
    const { token } = await nthMail(suite.mailDirectory, person.email);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => request('POST', '/verify-email', { token, password })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body['errors']).toEqual([
      { field: 'token', message: 'is unknown, used or expired' },
    ]);
    expect(await accountsOf(person.email)).toHaveLength(1);
  });

  test('a link that has expired does not work', async () => {
    const person = newPerson();
    const { request } = browser();
    await request('POST', '/sign-up', person);
    const { token } = await nthMail(suite.mailDirectory, person.email);
    await suite.database('email_tokens').where({ email: person.email }).update({ expires_at: new Date() });
    expect((await request('POST', '/verify-email', { token, password })).body['errors']).toEqual([
      { field: 'token', message: 'is unknown, used or expired' },
    ]);
    expect(await accountsOf(person.email)).toEqual([]);
  });

  test('is answered alike for an address that has an account, whose owner is told by mail', async () => {
    const known = await insertPerson(suite.database);
    const { request } = browser();
    const fresh = await request('POST', '/sign-up', newPerson());
    const taken = await request('POST', '/sign-up', { ...newPerson(), email: known.email.toLowerCase() });
    expect([taken.status, taken.text]).toEqual([fresh.status, fresh.text]);
    const names = (headers: Headers) => [...headers.keys()].sort();
    expect(names(taken.headers)).toEqual(names(fresh.headers));
    const mail = await nthMail(suite.mailDirectory, known.email);
    expect([mail.subject, mail.token]).toEqual(['[Tollgate] You already have an account', undefined]);
    expect(await accountsOf(known.email)).toHaveLength(1);
    expect((await request('POST', '/session', { email: known.email, password: known.password })).status).toBe(
      201,
    );
  });

  test('twice with one address, confirmed at once: one of them is the account, with its own password', async () => {
    const person = newPerson();
    const { email } = person;
    const { request } = browser();
    const answers = [
      await request('POST', '/sign-up', person),
      await request('POST', '/sign-up', { ...person, email: email.toUpperCase() }),
    ];
    const passwords = ['the first password', 'the other password'];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    const mails = await Promise.all([1, 2].map((count) => nthMail(suite.mailDirectory, person.email, count)));
    const used = await Promise.all(
      passwords.map((chosen, index) =>
        browser().request('POST', '/verify-email', { token: mails[index]?.token, password: chosen }),
      ),
    );
    expect(used.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await accountsOf(person.email)).toHaveLength(1);
    const signedIn = await Promise.all(
      passwords.map((chosen) => browser().request('POST', '/session', { email, password: chosen })),
    );
    expect(signedIn.map(({ status }) => status)).toEqual(
      used.map(({ status }) => (status === 200 ? 201 : 401)),
    );
  });

  test('by a stranger with somebody’s address: the owner’s click doesn’t make the stranger’s password good', async () => {
    const { email } = newPerson();
    const strangers = { email, name: 'Mallory', password: 'what the stranger knows' };
    const { request } = browser();
    const refused = await request('POST', '/sign-up', strangers);
    expect([refused.status, refused.body['errors']]).toEqual([
      400,
      [{ field: 'password', message: expect.any(String) }],
    ]);
    await request('POST', '/sign-up', { email, name: 'Mallory' });
    const { token } = await nthMail(suite.mailDirectory, email);

    const bare = await request('POST', '/verify-email', { token });
    expect([bare.status, bare.body['errors']]).toEqual([
      400,
      [{ field: 'password', message: 'is required to confirm a sign-up' }],
    ]);
    expect(await accountsOf(email)).toEqual([]);
    const chosen = await request('POST', '/verify-email', { token, password });
    expect([chosen.status, chosen.body]).toEqual([200, { email }]);
    const late = await request('POST', '/verify-email', { token, password: strangers.password });
    expect(late.status).toBe(400);
    const signedIn = await Promise.all(
      [strangers.password, password].map((known) =>
        browser().request('POST', '/session', { email, password: known }),
      ),
    );
    expect(signedIn.map(({ status }) => status)).toEqual([401, 201]);
  });

  test('a password that breaks a rule is refused, and the link stays valid', async () => {
    const { email, name } = newPerson();
    const { request } = browser();
    await request('POST', '/sign-up', { email, name });
    const { token } = await nthMail(suite.mailDirectory, email);
    for (const refused of ['short', 'password1', `my ${email}`]) {
      const { status, body } = await request('POST', '/verify-email', { token, password: refused });
      expect([status, body['errors']]).toEqual([400, [{ field: 'password', message: expect.any(String) }]]);
    }
    expect((await request('POST', '/verify-email', { token, password })).status).toBe(200);
  });

  test('a link that the previous version sent, with the sign-up’s password, takes the one that is chosen now', async () => {
    const { email, name } = newPerson();
    const { request } = browser();
    await request('POST', '/sign-up', { email, name });
    const { token } = await nthMail(suite.mailDirectory, email);
    const password_hash = await hashPassword('typed at the sign-up');
    await suite.database('email_tokens').where({ email }).update({ password_hash });
    expect((await request('POST', '/verify-email', { token, password })).status).toBe(200);
    const signedIn = await Promise.all(
      ['typed at the sign-up', password].map((known) =>
        browser().request('POST', '/session', { email, password: known }),
      ),
    );
    expect(signedIn.map(({ status }) => status)).toEqual([401, 201]);
  });

  test('resending sends another link of the same sign-up, and nothing where there is none', async () => {
    const person = newPerson();
    const { request } = browser();
    const nobody = newPerson().email;
    expect((await request('POST', '/sign-up/resend', { email: nobody })).status).toBe(202);
    await request('POST', '/sign-up', person);
    const first = await nthMail(suite.mailDirectory, person.email);
    expect((await request('POST', '/sign-up/resend', { email: person.email })).status).toBe(202);
    const second = await nthMail(suite.mailDirectory, person.email, 2);
    expect(second.token).not.toBe(first.token);
    const { email } = person;
    expect((await request('POST', '/verify-email', { token: second.token, password })).status).toBe(200);
    expect((await request('POST', '/verify-email', { token: first.token, password })).status).toBe(400);
    expect((await request('POST', '/session', { email, password })).status).toBe(201);
    await waitFor(async () => (await suite.database('mail_outbox').select()).length === 0);
    expect(mailsTo(suite.mailDirectory, nobody)).toEqual([]);
  });

  test('nothing that a stranger types is in a mail but the address', async () => {
    const person = { ...newPerson(), name: 'Visit evil.example now' };
    await browser().request('POST', '/sign-up', person);
    const { raw } = await nthMail(suite.mailDirectory, person.email);
    expect(raw).not.toContain('evil');
  });

  test('all faulty fields are named at once', async () => {
    const wrong = { email: 'nobody', name: 'a\0b', admin: true };
    const { status, body } = await browser().request('POST', '/sign-up', wrong);
    expect([status, body['code']]).toEqual([400, 'invalid_request']);
    expect((body['errors'] as { field: string }[]).map(({ field }) => field).sort()).toEqual([
      'admin',
      'email',
      'name',
    ]);
    expect(JSON.stringify(body)).not.toMatch(/nobody/);
  });

  test('an address gets so many mails an hour, then 429 with Retry-After; other addresses still get theirs', async () => {
    const { email } = newPerson();
    const statuses = [];
    for (let count = 0; count < 6; count += 1) {
      const answer = await browser().request('POST', '/sign-up/resend', { email });
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    // Its password can be reset all the same.
    expect((await browser().request('POST', '/password-reset', { email })).status).toBe(202);
    expect((await browser().request('POST', '/sign-up', newPerson())).status).toBe(202);
  });

  test('one network address may cause so many mails an hour, whoever they go to', async () => {
    const { request } = openBrowser(suite.account, '203.0.113.77');
    const answers = [];
    for (let count = 0; count < 31; count += 1) {
      answers.push(await request('POST', '/password-reset', { email: newPerson().email }));
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(30).fill(202), 429]);
  });
});

describe('where sign-up is switched off', () => {
  test('nobody can sign up, everybody can ask whether it is, and signing in works', async () => {
    const off = await startPeople({ SIGN_UP_ENABLED: 'false' });
    try {
      const { request } = openBrowser(off.account);
      expect((await request('GET', '/sign-up')).body).toEqual({ enabled: false, offer: null });
      for (const path of ['/sign-up', '/sign-up/resend']) {
        const { status, body } = await request('POST', path, newPerson());
        expect([status, body['code']]).toEqual([403, 'forbidden']);
      }
      await signedInBrowser(off.account, await insertPerson(off.database));
    } finally {
      await off.close();
    }
    expect((await browser().request('GET', '/sign-up')).body).toEqual({ enabled: true, offer: null });
  });
});
