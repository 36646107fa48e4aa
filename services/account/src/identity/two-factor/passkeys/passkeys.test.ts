import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newAuthenticator } from '../../../../test/suite/stand-ins/authenticator.ts';
import {
  insertPerson,
  mailAbout,
  nthMail,
  openBrowser,
  signedInBrowser,
  startPeople,
} from '../../../../test/suite/people.ts';
import type { Browser, PeopleUnderTest } from '../../../../test/suite/people.ts';
import { startReceiver } from '../../../../test/suite/stand-ins/webhook-receiver.ts';
import {
  PUBLIC_URL,
  addPasskey,
  isSignedIn,
  passwordStep,
} from '../../../../test/suite/stand-ins/two-factor.ts';
import { relyingPartyOf } from './relying-party.ts';

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople({ PUBLIC_URL });
});

afterAll(async () => {
  await suite.close();
});

const REFUSED = [{ field: 'credential', message: 'was not accepted; try again' }];

async function withPasskey() {
  const person = await insertPerson(suite.database);
  const browser = await signedInBrowser(suite.account, person);
  return { ...person, browser, authenticator: await addPasskey(browser) };
}

const optionsOf = async (browser: Browser, body: object = {}) =>
  (await browser.request('POST', '/session/passkey/options', body)).body;

describe('adding a passkey', () => {
  test('makes it a second factor, with recovery codes, and tells the owner', async () => {
    const person = await insertPerson(suite.database);
    const browser = await signedInBrowser(suite.account, person);
    const { body: options } = await browser.request('POST', '/two-factor/passkeys/options');
    expect(options).toMatchObject({
      rp: { id: 'tollgate.example', name: 'Tollgate' },
      user: { name: person.email },
      attestation: 'none',
    });
    const credential = newAuthenticator(PUBLIC_URL).create(options);
    const wanted = { name: 'Laptop', credential };
    const { status, body } = await browser.request('POST', '/two-factor/passkeys', wanted);
    expect([status, body['recovery_codes']]).toEqual([201, expect.any(Array)]);
    expect(body['passkey']).toMatchObject({ name: 'Laptop', last_used_at: null });
    // Its challenge is used up.
    expect((await browser.request('POST', '/two-factor/passkeys', wanted)).body['errors']).toEqual(REFUSED);
    expect((await passwordStep(suite, person)).factors).toEqual(['passkey', 'recovery_code']);
    expect((await nthMail(suite.mailDirectory, person.email)).subject).toBe('[Tollgate] Passkey added');
  });

  test('is listed, renamed and removed by its owner only', async () => {
    const owner = await withPasskey();
    const stranger = await withPasskey();
    const { passkeys } = (await owner.browser.request('GET', '/two-factor')).body as {
      passkeys: { passkey_id: number }[];
    };
    const path = `/two-factor/passkeys/${String(passkeys[0]?.passkey_id)}`;
    expect((await stranger.browser.request('PATCH', path, { name: 'Mine' })).status).toBe(404);
    expect((await stranger.browser.request('DELETE', path)).status).toBe(404);
    expect((await owner.browser.request('PATCH', path, { name: 'Phone' })).body['name']).toBe('Phone');
    expect((await owner.browser.request('DELETE', path)).status).toBe(204);
    expect((await owner.browser.request('DELETE', path)).status).toBe(404);
    expect((await owner.browser.request('GET', '/two-factor')).body['enabled']).toBe(false);
    await mailAbout(suite.mailDirectory, owner.email, '[Tollgate] Passkey removed');
  });

  test('of another origin, for another account or twice is refused', async () => {
    const [one, other] = [await withPasskey(), await withPasskey()];
    const add = async (browser: Browser, credential: object) =>
      (await browser.request('POST', '/two-factor/passkeys', { name: 'x', credential })).body['errors'];
    const fresh = async () => (await one.browser.request('POST', '/two-factor/passkeys/options')).body;
    const authenticator = newAuthenticator(PUBLIC_URL);
    const elsewhere = authenticator.create(await fresh(), { origin: 'https://evil.example' });
    expect(await add(one.browser, elsewhere)).toEqual(REFUSED);
    expect(await add(other.browser, authenticator.create(await fresh()))).toEqual(REFUSED);
    const known = one.authenticator.create(await fresh());
    expect(await add(one.browser, known)).toEqual(REFUSED);
  });

  test('with a certificate is refused before anything that it names is fetched', async () => {
    const receiver = await startReceiver();
    try {
      const browser = await signedInBrowser(suite.account, await insertPerson(suite.database));
      const { body: options } = await browser.request('POST', '/two-factor/passkeys/options');
      const attStmt = new Map<string, unknown>([['x5c', [new Uint8Array(Buffer.from(receiver.url))]]]);
      const credential = newAuthenticator(PUBLIC_URL).create(options, {
        attestation: { fmt: 'packed', attStmt },
      });
      const answer = await browser.request('POST', '/two-factor/passkeys', { name: 'x', credential });
      expect(answer.body['errors']).toEqual(REFUSED);
      expect(receiver.received).toEqual([]);
    } finally {
      await receiver.close();
    }
  });

  test('is possible twenty times', async () => {
    const owner = await withPasskey();
    for (let count = 1; count < 20; count += 1) await addPasskey(owner.browser);
    await expect(addPasskey(owner.browser)).rejects.toThrow('passkey_limit_reached');
  });
});

describe('a passkey', () => {
  test('completes a sign-in, also without verifying its user', async () => {
    const owner = await withPasskey();
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    const options = await optionsOf(browser, { sign_in_token });
    expect(options['allowCredentials']).toHaveLength(1);
    const credential = owner.authenticator.get(options, { verified: false });
    const answer = await browser.request('POST', '/session/passkey', { sign_in_token, credential });
    expect([answer.status, await isSignedIn(browser)]).toEqual([201, true]);
    const { passkeys } = (await browser.request('GET', '/two-factor')).body;
    expect(passkeys).toMatchObject([{ last_used_at: expect.any(String) }]);
  });

  test('signs in without a password, if the authenticator has verified its user', async () => {
    const owner = await withPasskey();
    const browser = openBrowser(suite.account);
    const enter = async (changes: { verified?: boolean; origin?: string }) => {
      const credential = owner.authenticator.get(await optionsOf(browser), changes);
      return browser.request('POST', '/session/passkey', { credential });
    };
    expect((await enter({ verified: false })).body['errors']).toEqual(REFUSED);
    expect((await enter({ origin: 'https://evil.example' })).body['errors']).toEqual(REFUSED);
    const answer = await enter({});
    expect([answer.status, answer.body['email']]).toEqual([201, owner.email]);
    expect((await browser.request('POST', '/two-factor/recovery-codes')).status).toBe(201);
  });

  test('of an account whose address is not verified signs nobody in', async () => {
    const owner = await withPasskey();
    await suite
      .database('accounts')
      .where({ account_id: owner.account_id })
      .update({ email_verified_at: null });
    const browser = openBrowser(suite.account);
    const credential = owner.authenticator.get(await optionsOf(browser));
    expect((await browser.request('POST', '/session/passkey', { credential })).status).toBe(400);
  });

  test('of another account does not complete a sign-in', async () => {
    const [owner, other] = [await withPasskey(), await withPasskey()];
    const { browser, sign_in_token } = await passwordStep(suite, owner);
    const credential = other.authenticator.get(await optionsOf(browser, { sign_in_token }));
    const answer = await browser.request('POST', '/session/passkey', { sign_in_token, credential });
    expect([answer.status, answer.body['errors']]).toEqual([400, REFUSED]);
  });

  test('answers each challenge once, in time, and for what it was made', async () => {
    const owner = await withPasskey();
    const browser = openBrowser(suite.account);
    const enter = async (credential: object) =>
      (await browser.request('POST', '/session/passkey', { credential })).status;
    const options = await optionsOf(browser);
    const twice = [owner.authenticator.get(options), owner.authenticator.get(options)];
    const statuses = await Promise.all(twice.map(enter));
    expect(statuses.sort()).toEqual([201, 400]);
    const late = await optionsOf(browser);
    await suite.database('passkey_challenges').update({ expires_at: new Date() });
    expect(await enter(owner.authenticator.get(late))).toBe(400);
    const { sign_in_token } = await passwordStep(suite, owner);
    const forStep = await optionsOf(browser, { sign_in_token });
    expect(await enter(owner.authenticator.get(forStep))).toBe(400);
  });

  test('whose count does not rise was copied, and is refused', async () => {
    const owner = await withPasskey();
    const browser = openBrowser(suite.account);
    const enter = async () => {
      const credential = owner.authenticator.get(await optionsOf(browser));
      return (await browser.request('POST', '/session/passkey', { credential })).status;
    };
    expect(await enter()).toBe(201);
    owner.authenticator.count -= 1;
    expect(await enter()).toBe(400);
    expect(await enter()).toBe(201);
  });

  test('confirms a session', async () => {
    const { browser, authenticator, account_id } = await withPasskey();
    await suite
      .database('sessions')
      .where({ account_id })
      .update({ confirmed_at: new Date(0) });
    const { body: options } = await browser.request('POST', '/session/confirm/passkey/options');
    const credential = authenticator.get(options);
    const confirm = () => browser.request('POST', '/session/confirm/passkey', { credential });
    expect((await browser.request('POST', '/two-factor/recovery-codes')).status).toBe(403);
    expect((await confirm()).status).toBe(204);
    expect((await confirm()).status).toBe(400);
    expect((await browser.request('POST', '/two-factor/recovery-codes')).status).toBe(201);
  });
});

test.each([
  ['https://tollgate.example', { id: 'tollgate.example', origin: 'https://tollgate.example' }],
  ['https://tollgate.example:8443/x', { id: 'tollgate.example', origin: 'https://tollgate.example:8443' }],
  ['http://localhost:4000', { id: 'localhost', origin: 'http://localhost:4000' }],
  ['http://127.0.0.1:4000', { id: 'localhost', origin: 'http://localhost:4000' }],
  ['http://[::1]:4000', { id: 'localhost', origin: 'http://localhost:4000' }],
  ['http://tollgate.example', undefined],
  ['https://192.0.2.1', undefined],
  ['https://[2001:db8::1]', undefined],
])('at %s passkeys belong to %j', (publicUrl, expected) => {
  expect(relyingPartyOf(publicUrl)).toEqual(expected);
});

test('at an address where passkeys can not work, nothing offers them', async () => {
  const plain = await startPeople({ PUBLIC_URL: 'http://192.0.2.1' });
  try {
    const browser = await signedInBrowser(plain.account, await insertPerson(plain.database));
    expect((await browser.request('GET', '/sign-in')).body).toEqual({ passkeys: null });
    for (const path of ['/two-factor/passkeys/options', '/session/confirm/passkey/options']) {
      const { status, body } = await browser.request('POST', path);
      expect([status, body['code']]).toEqual([409, 'passkeys_unavailable']);
    }
    expect((await browser.request('POST', '/session/passkey/options', {})).status).toBe(409);
  } finally {
    await plain.close();
  }
});
