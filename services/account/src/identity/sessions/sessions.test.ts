import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { argon2Sync, createHash } from 'node:crypto';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { insertPerson, openBrowser, signedInBrowser, startPeople } from '../../../test/suite/people.ts';
import type { Browser, PeopleUnderTest } from '../../../test/suite/people.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

const person = () => insertPerson(suite.database);
const signIn = async () => signedInBrowser(suite.account, await person());
const isSignedIn = async ({ request }: Browser) => (await request('GET', '/session')).status === 200;
const tokenOf = ({ cookie }: Browser) => cookie?.split('=')[1] ?? '';

function rowOf(browser: Browser) {
  const token_hash = createHash('sha256').update(tokenOf(browser)).digest();
  return suite.database('sessions').where({ token_hash });
}

function credentialsOf({ email, password }: { email: string; password: string }) {
  return { email, password };
}

describe('signing in', () => {
  test('sets a cookie for scripts of nobody and sites of nobody else', async () => {
    const { email, password } = await person();
    const answer = await openBrowser(suite.account).request('POST', '/session', { email, password });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^tollgate_session=[A-Za-z0-9_-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  test.each([{ PUBLIC_URL: 'https://tollgate.example' }, { COOKIE_SECURE: 'true' }])(
    'behind TLS (%j) the cookie is Secure and belongs to this host alone',
    async (settings) => {
      const secure = await startPeople(settings);
      try {
        const browser = await signedInBrowser(secure.account, await insertPerson(secure.database));
        expect(browser.cookie).toMatch(/^__Host-tollgate_session=/);
        expect(await isSignedIn(browser)).toBe(true);
        const { headers } = await browser.request('DELETE', '/session');
        expect(headers.getSetCookie()).toEqual([
          expect.stringMatching(
            /^__Host-tollgate_session=; Path=\/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax$/,
          ),
        ]);
      } finally {
        await secure.close();
      }
    },
  );

  test('an unknown address, a wrong password and an unverified address get one answer', async () => {
    const known = await person();
    const unverified = await insertPerson(suite.database, { email_verified_at: null });
    const answers = await Promise.all(
      [
        { email: 'nobody@example.com', password: known.password },
        { email: known.email, password: 'wrong' },
        { email: unverified.email, password: unverified.password },
      ].map((body) => openBrowser(suite.account).request('POST', '/session', body)),
    );
    const withoutId = answers.map(({ status, body: { request_id: _, ...body } }) => ({ status, body }));
    expect(withoutId[0]).toEqual({
      status: 401,
      body: {
        type: 'urn:tollgate:problem:invalid_credentials',
        title: 'Unauthorized',
        status: 401,
        detail: 'The email address or the password is wrong.',
        code: 'invalid_credentials',
      },
    });
    expect(withoutId[1]).toEqual(withoutId[0]);
    expect(withoutId[2]).toEqual(withoutId[0]);
    for (const { headers } of answers) {
      expect(headers.getSetCookie()).toEqual([]);
      expect(headers.get('www-authenticate')).toContain('Bearer');
    }
  });

  test('costs one verification, whatever there is to verify', async () => {
    const known = await person();
    const password = 'its password';
    const none = await insertPerson(suite.database, { password_hash: '!' });
    const empty = await insertPerson(suite.database, { password_hash: '' });
    const unverified = await insertPerson(suite.database, { email_verified_at: null });
    const blocked = await insertPerson(suite.database, { blocked_at: new Date() });
    const hashes = () => accountMetric(suite.account, 'tollgate_password_hashes_total');
    for (const [body, status] of [
      [{ email: 'nobody@example.com', password }, 401],
      [{ email: known.email, password: 'wrong' }, 401],
      [{ email: none.email, password }, 401],
      [{ email: empty.email, password }, 401],
      [{ email: unverified.email, password }, 401],
      [{ email: unverified.email, password: unverified.password }, 401],
      [{ email: blocked.email, password }, 401],
      [{ email: blocked.email, password: blocked.password }, 201],
      [{ email: known.email, password: known.password }, 201],
    ] as const) {
      const before = await hashes();
      const answer = await openBrowser(suite.account).request('POST', '/session', body);
      expect([body.email, answer.status, await hashes()]).toEqual([body.email, status, before + 1]);
    }
  });

  test('gives a new session each time, and ends the one that the browser had', async () => {
    const owner = await person();
    const browser = await signedInBrowser(suite.account, owner);
    const { cookie: first, csrfToken: firstCsrfToken } = browser;
    expect((await browser.request('POST', '/session', credentialsOf(owner))).status).toBe(201);
    expect(browser.cookie).not.toBe(first);
    expect(browser.csrfToken).not.toBe(firstCsrfToken);
    const stale = openBrowser(suite.account);
    stale.cookie = first;
    expect(await isSignedIn(stale)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('a session that somebody else has put into the browser is never taken over', async () => {
    const attacker = await signIn();
    const victim = openBrowser(suite.account);
    victim.cookie = attacker.cookie;
    const owner = await person();
    expect((await victim.request('POST', '/session', credentialsOf(owner))).status).toBe(201);
    expect(victim.cookie).not.toBe(attacker.cookie);
    expect(await isSignedIn(attacker)).toBe(false);
  });

  test('a hash of an older cost is replaced by one of today’s, also by two sign-ins at once', async () => {
    const nonce = Buffer.from('0123456789abcdef');
    const cost = { nonce, memory: 1_024, passes: 1, parallelism: 2, tagLength: 32 };
    const password = 'an older password';
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
    const hash = text(argon2Sync('argon2id', { message: password, ...cost }));
    const { email, account_id } = await insertPerson(suite.database, {
      password_hash: `$argon2id$v=19$m=1024,t=1,p=2$${text(nonce)}$${hash}`,
    });
    const answers = await Promise.all(
      [1, 2, 3].map(() => openBrowser(suite.account).request('POST', '/session', { email, password })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const [row] = await suite
      .database('accounts')
      .where({ account_id })
      .select<{ password_hash: string }[]>('password_hash');
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signedInBrowser(suite.account, { account_id, email, password });
  });

  test('a blocked account may sign in, and is told', async () => {
    const blocked = await insertPerson(suite.database, { blocked_at: new Date() });
    const browser = await signedInBrowser(suite.account, blocked);
    expect((await browser.request('GET', '/session')).body).toMatchObject({ blocked: true });
  });
});

describe('a session', () => {
  test('says who is signed in, and is stored by its hash only', async () => {
    const browser = await signIn();
    const { status, body, text } = await browser.request('GET', '/session');
    expect([status, body['email_verified'], body['csrf_token']]).toEqual([200, true, browser.csrfToken]);
    expect(text).not.toContain(tokenOf(browser));
    expect(await rowOf(browser).select()).toHaveLength(1);
    const dump = await suite.database('sessions').select(suite.database.raw('sessions::text AS row'));
    expect(JSON.stringify(dump)).not.toContain(tokenOf(browser));
  });

  test.each([
    ['none', undefined],
    ['nonsense', 'tollgate_session=nonsense'],
    ['an unknown one', `tollgate_session=${'A'.repeat(43)}`],
    ['one that a percent sign breaks', 'tollgate_session=%zz'],
  ])('%s: 401', async (_, cookie) => {
    const browser = openBrowser(suite.account);
    browser.cookie = cookie;
    for (const [method, path] of [
      ['GET', '/session'],
      ['GET', '/sessions'],
      ['DELETE', '/session'],
      ['PATCH', '/account'],
      ['PUT', '/account/password'],
    ] as const) {
      const { status, body } = await browser.request(method, path, method.startsWith('P') ? {} : undefined);
      expect([method, path, status, body['code']]).toEqual([method, path, 401, 'unauthorized']);
    }
  });

  test('ends when it has not been used for the idle time', async () => {
    const browser = await signIn();
    await rowOf(browser).update({ last_seen_at: new Date(Date.now() - 604_800_000 + 60_000) });
    expect(await isSignedIn(browser)).toBe(true);
    // Which has counted as use.
    const [seen] = await rowOf(browser).select<{ last_seen_at: Date }[]>('last_seen_at');
    expect(Date.now() - (seen?.last_seen_at.getTime() ?? 0)).toBeLessThan(60_000);
    await rowOf(browser).update({ last_seen_at: new Date(Date.now() - 604_800_000 - 1_000) });
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('ends after its lifetime, however much it is used', async () => {
    const browser = await signIn();
    await rowOf(browser).update({ expires_at: new Date() });
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('ends by signing out, on the server too', async () => {
    const browser = await signIn();
    const copy = openBrowser(suite.account);
    copy.cookie = browser.cookie;
    expect((await browser.request('DELETE', '/session')).status).toBe(204);
    expect(await isSignedIn(copy)).toBe(false);
  });

  test('ends with all others by signing out everywhere', async () => {
    const owner = await person();
    const browsers = await Promise.all([1, 2, 3].map(() => signedInBrowser(suite.account, owner)));
    const stranger = await signIn();
    expect((await browsers[0]?.request('DELETE', '/sessions'))?.status).toBe(204);
    for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
    expect(await isSignedIn(stranger)).toBe(true);
  });

  test('is listed with the account’s others, and each can be ended; those of others can’t', async () => {
    const owner = await person();
    const [one, other] = [
      await signedInBrowser(suite.account, owner),
      await signedInBrowser(suite.account, owner),
    ];
    const { sessions } = (await one.request('GET', '/sessions')).body as {
      sessions: { session_id: number; current: boolean }[];
    };
    expect(sessions).toEqual([
      expect.objectContaining({
        current: false,
        user_agent: 'node',
        address: expect.stringMatching(/^10\./),
      }),
      expect.objectContaining({ current: true }),
    ]);
    const path = `/sessions/${String(sessions[0]?.session_id)}`;
    const stranger = await signIn();
    expect((await stranger.request('DELETE', path)).status).toBe(404);
    expect(await isSignedIn(other)).toBe(true);
    expect((await one.request('DELETE', path)).status).toBe(204);
    expect(await isSignedIn(other)).toBe(false);
    expect((await one.request('DELETE', path)).status).toBe(404);
    expect((await one.request('DELETE', '/sessions/nonsense')).status).toBe(404);
  });
});

describe('requests that another site could have sent', () => {
  test.each([
    'DELETE /session',
    'DELETE /sessions',
    'PATCH /account',
    'PUT /account/password',
    'POST /account/email',
  ])('%s without the session’s CSRF token, or with another session’s, is 403', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const browser = await signIn();
    const other = await signIn();
    for (const csrf of ['', 'nonsense', other.csrfToken ?? '', `${browser.csrfToken ?? ''}x`]) {
      const { status, body } = await browser.request(method, path, {}, { 'x-csrf-token': csrf });
      expect([status, body['code']]).toEqual([403, 'csrf_token_required']);
    }
    expect(await isSignedIn(browser)).toBe(true);
  });

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://tollgate.example' }, 403],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'http://tollgate.example.evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 201],
    [{ 'sec-fetch-site': 'none' }, 201],
    [{ origin: 'http://tollgate.example' }, 201],
    [{}, 201],
  ])('signing in with %j is %d', async (headers, status) => {
    const { email, password } = await person();
    const answer = await openBrowser(suite.account).request('POST', '/session', { email, password }, headers);
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([status, status === 201 ? 1 : 0]);
  });

  test('the address that the browser itself names is its own origin, wherever that is', async () => {
    const { email, password } = await person();
    const { publicUrl } = suite.account;
    const answer = await openBrowser(suite.account).request(
      'POST',
      '/session',
      { email, password },
      { origin: publicUrl },
    );
    expect(answer.status).toBe(201);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a body of %s, as a form can send it, is 415',
    async (type) => {
      const { email, password } = await person();
      const body = JSON.stringify({ email, password });
      const answer = await openBrowser(suite.account).request('POST', '/session', body, {
        'content-type': type,
      });
      expect([answer.status, answer.body['code']]).toEqual([415, 'unsupported_media_type']);
    },
  );
});
