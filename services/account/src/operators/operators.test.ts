import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OPERATOR_ROLES, roleSuffices } from '@tollgate/contracts/operator-roles';
import { applicationPart } from '@tollgate/credentials/access-token';
import type { Described } from '@tollgate/operation';
import { waitFor } from '@tollgate/stack/wait-for';
import { freePort } from '@tollgate/stack/ports';
import { makeApplication, operatePath, operatorAuthorization } from '../../test/suite/operator.ts';
import { OPERATOR_CONSOLE_API } from '../api/operator-console.ts';
import { callConsole, insertOperatorBrowser } from '../../test/suite/operator-browser.ts';
import type { OperatorBrowser } from '../../test/suite/operator-browser.ts';
import type { Answer } from '../../test/suite/operator.ts';
import { startOperatedAccount } from '../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../test/suite/operated-account.ts';
import { newAuthenticator } from '../../test/suite/stand-ins/authenticator.ts';
import type { Authenticator } from '../../test/suite/stand-ins/authenticator.ts';
import { mailAbout, mailsTo } from '../../test/suite/people.ts';
import { sessionsOf } from '../../test/suite/database/sessions.ts';

/** docs/operators.md: signing in to the operators' console. */

let suite: OperatedAccount;
let origin: string;
let directory: string;
let mails: string;

beforeAll(async () => {
  const port = String(await freePort());
  origin = `http://localhost:${port}`;
  directory = mkdtempSync(join(tmpdir(), 'tollgate-operators-'));
  mails = join(directory, 'mails');
  mkdirSync(join(directory, 'console/operator/assets'), { recursive: true });
  for (const name of ['operator', 'operator-view'])
    writeFileSync(join(directory, `console/operator/${name}.html`), `<!doctype html><head></head>${name}`);
  for (const folder of ['runbook', '_astro', 'pagefind'])
    mkdirSync(join(directory, 'docs/operators', folder), { recursive: true });
  for (const name of ['index.html', 'runbook/index.html', '404.html', 'mark.svg'])
    writeFileSync(join(directory, 'docs/operators', name), `${name} of %PRODUCT_NAME%`);
  suite = await startOperatedAccount({
    settings: {
      PRIVATE_PORT: port,
      OPERATORS_URL: `${origin}/operator`,
      TRUSTED_PROXIES: '127.0.0.1/32',
      HOUSEKEEPING_INTERVAL_SEC: '1',
      CONSOLE_DIR: join(directory, 'console'),
      DOCS_DIR: join(directory, 'docs'),
      MAIL_DIR: mails,
    },
  });
});

afterAll(async () => {
  await suite.close();
  rmSync(directory, { recursive: true });
});

type Browser = OperatorBrowser;

let made = 0;

const call = (
  browser: Browser,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => callConsole(suite.account, browser, method, path, body, headers);

/** The header of a browser's session. */
const cookieOf = ({ cookies }: Browser) => `tollgate_operator=${cookies?.['tollgate_operator'] ?? ''}`;

async function createOperator(role = 'admin') {
  made += 1;
  const body = { name: `Operator ${String(made)}`, email: `operator-${String(made)}@example.com`, role };
  const answer = await operatePath(suite.account, 'POST', '/private/operators', body);
  expect(answer.status).toBe(201);
  const { operator, enrolment } = answer.body as {
    operator: { operator_id: number };
    enrolment: { url: string };
  };
  const token = new URL(enrolment.url).hash.replace('#enrol=', '');
  return { ...body, operator_id: operator.operator_id, token, url: enrolment.url };
}

async function enrol(token: string, authenticator: Authenticator, browser: Browser = {}) {
  const { body: options } = await call(browser, 'POST', '/enrolment/options', { token });
  const answer = await call(browser, 'POST', '/enrolment', {
    token,
    credential: authenticator.create(options),
  });
  return { browser, answer };
}

async function signedIn(role = 'admin') {
  const operator = await createOperator(role);
  const authenticator = newAuthenticator(origin);
  const { browser, answer } = await enrol(operator.token, authenticator);
  expect(answer.status).toBe(201);
  return { operator, authenticator, browser, session: answer.body };
}

async function signIn(authenticator: Authenticator, browser: Browser = {}) {
  const { body: options } = await call(browser, 'POST', '/sign-in/passkey/options');
  const answer = await call(browser, 'POST', '/sign-in/passkey', { credential: authenticator.get(options) });
  return { browser, answer };
}

describe('enrolment', () => {
  test('a link at OPERATORS_URL, with the token where no server sees it, makes a passkey and signs in', async () => {
    const { operator, session, browser } = await signedIn('support');
    expect(operator.url).toBe(`${origin}/operator/#enrol=${operator.token}`);
    expect(session).toMatchObject({ name: operator.name, role: 'support' });
    expect((await call(browser, 'GET', '/session')).body).toMatchObject({
      operator_id: operator.operator_id,
    });
  });

  test('works once, also for two at a time', async () => {
    const { token } = await createOperator();
    const both = [newAuthenticator(origin), newAuthenticator(origin)];
    const options = await Promise.all(both.map(() => call({}, 'POST', '/enrolment/options', { token })));
    const answers = await Promise.all(
      both.map((authenticator, index) =>
        call({}, 'POST', '/enrolment', {
          token,
          credential: authenticator.create(options[index]?.body ?? {}),
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 410]);
    expect((await call({}, 'POST', '/enrolment/options', { token })).status).toBe(410);
  });

  test('ends after 15 minutes', async () => {
    const { token, operator_id } = await createOperator();
    const { expires_at } = (await suite.database('operator_links').where({ operator_id }).first()) as {
      expires_at: Date;
    };
    expect(Math.abs(expires_at.getTime() - Date.now() - 900_000)).toBeLessThan(60_000);
    await suite.database('operator_links').where({ operator_id }).update({ expires_at: new Date() });
    expect((await call({}, 'POST', '/enrolment/options', { token })).status).toBe(410);
    await waitFor(async () => (await suite.database('operator_links').where({ operator_id })).length === 0);
  });

  test('needs an authenticator that verifies its user, at the origin of OPERATORS_URL', async () => {
    const { token } = await createOperator();
    for (const changes of [{ verified: false }, { origin: 'https://elsewhere.example' }]) {
      const { body: options } = await call({}, 'POST', '/enrolment/options', { token });
      const credential = newAuthenticator(origin).create(options, changes);
      expect((await call({}, 'POST', '/enrolment', { token, credential })).status).toBe(400);
    }
    expect((await enrol(token, newAuthenticator(origin))).answer.status).toBe(201);
  });
});

describe('another enrolment link', () => {
  const renew = (id: number) =>
    operatePath(suite.account, 'POST', `/private/operators/${String(id)}/enrolment-link`);
  const tokenOf = ({ body }: Answer) => new URL(String(body['url'])).hash.replace('#enrol=', '');

  test('can be used where the first has expired', async () => {
    const { operator_id } = await createOperator();
    await suite.database('operator_links').where({ operator_id }).delete();
    const answer = await renew(operator_id);
    expect(answer.status).toBe(201);
    expect((await enrol(tokenOf(answer), newAuthenticator(origin))).answer.status).toBe(201);
    const entry: unknown = await suite
      .database('audit_log')
      .where({ action: 'operator_link_created' })
      .orderBy('audit_id', 'desc')
      .first();
    expect(entry).toMatchObject({ details: { operator_id, purpose: 'enrolment' } });
  });

  test('ends the one before, also of two that are asked for at a time', async () => {
    const { operator_id, token } = await createOperator();
    const tokens = (await Promise.all([renew(operator_id), renew(operator_id)])).map(tokenOf);
    expect((await call({}, 'POST', '/enrolment/options', { token })).status).toBe(410);
    const answers = await Promise.all(
      tokens.map((one) => call({}, 'POST', '/enrolment/options', { token: one })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410]);
  });

  test('is only for a local operator without a passkey', async () => {
    const { operator } = await signedIn();
    expect((await renew(operator.operator_id)).body).toMatchObject({ code: 'operator_enrolled' });
    expect((await renew(1_000_000)).status).toBe(404);
    const [other] = await suite
      .database('operators')
      .insert({ name: 'Of an identity provider' })
      .returning<{ operator_id: number }[]>('operator_id');
    expect((await renew(Number(other?.operator_id))).status).toBe(404);
  });
});

describe("the operators' book", () => {
  const read = (path: string, cookie?: string, accept = 'text/html') =>
    fetch(`${origin}/operator/docs${path}`, {
      headers: { accept, ...(cookie === undefined ? {} : { cookie }) },
    });

  test('is for signed-in operators; others get the sign-in page, programs 401', async () => {
    const { browser } = await signedIn('viewer');
    const cookie = cookieOf(browser);
    for (const [path, page] of [
      ['', 'index.html'],
      ['/runbook', 'runbook/index.html'],
    ]) {
      const answer = await read(path ?? '', cookie);
      expect([answer.status, await answer.text()]).toEqual([200, `${page ?? ''} of Tollgate`]);
    }
    expect((await read('/nothing', cookie)).status).toBe(404);
    expect(await (await read('/runbook')).text()).toContain('<!doctype html>');
    expect((await read('/runbook', undefined, 'application/json')).status).toBe(401);
    const withCredential = await fetch(`${origin}/operator/docs/runbook`, {
      headers: { authorization: operatorAuthorization },
    });
    expect(withCredential.status).toBe(401);
  });

  test('is not on the public listener', async () => {
    expect((await fetch(`${suite.account.publicUrl}/operator/docs`)).status).toBe(404);
  });
});

describe('signing in', () => {
  test('by the passkey, with a new session', async () => {
    const { authenticator, browser, operator } = await signedIn();
    const again = await signIn(authenticator, structuredClone(browser));
    expect(again.answer.status).toBe(201);
    expect(cookieOf(again.browser)).not.toBe(cookieOf(browser));
    // The browser's session before has ended.
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
    const entries = await suite
      .database('audit_log')
      .where({ actor: `operator:person/${String(operator.operator_id)}`, action: 'operator_signed_in' })
      .orderBy('audit_id');
    expect(entries).toMatchObject([
      { details: { method: 'enrolment', role: 'admin', operator: { name: operator.name, issuer: null } } },
      { details: { method: 'passkey', role: 'admin' } },
    ]);
  });

  test('not by a replayed answer, a copy of the passkey, another origin or an unverified user', async () => {
    const { authenticator } = await signedIn();
    const options = async () => (await call({}, 'POST', '/sign-in/passkey/options')).body;
    const attempt = async (credential: object) =>
      (await call({}, 'POST', '/sign-in/passkey', { credential })).status;
    const credential = authenticator.get(await options());
    expect(await attempt(credential)).toBe(201);
    expect(await attempt(credential)).toBe(400);
    expect(await attempt(authenticator.get(await options(), { verified: false }))).toBe(400);
    expect(await attempt(authenticator.get(await options(), { origin: 'http://localhost:1' }))).toBe(400);
    authenticator.count = 0;
    expect(await attempt(authenticator.get(await options()))).toBe(400);
    expect(await attempt(newAuthenticator(origin).get(await options()))).toBe(400);
  });

  test('the cookie is HttpOnly, Strict, and below /operator only', async () => {
    const { token } = await createOperator();
    const { answer } = await enrol(token, newAuthenticator(origin));
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^tollgate_operator=/);
    for (const part of ['Path=/operator', 'HttpOnly', 'SameSite=Strict']) expect(cookie).toContain(part);
  });

  test('is limited by address', async () => {
    const from = { 'x-forwarded-for': '203.0.113.77' };
    const ask = () => call({}, 'POST', '/sign-in/passkey/options', undefined, from);
    const answers = [];
    // Not all at once: on a busy machine some would wait too long for a connection to Postgres.
    for (let asked = 0; asked < 110; asked += 10) {
      answers.push(...(await Promise.all(Array.from({ length: 10 }, ask))));
    }
    const counts = Map.groupBy(answers, ({ status }) => status);
    expect([...counts].map(([status, { length }]) => [status, length])).toEqual([
      [200, 100],
      [429, 10],
    ]);
    const other = { 'x-forwarded-for': '203.0.113.78' };
    expect((await call({}, 'POST', '/sign-in/passkey/options', undefined, other)).status).toBe(200);
  });

  test('by a link, once, for development', async () => {
    const { operator_id } = await createOperator('viewer');
    const path = `/private/operators/${String(operator_id)}/sign-in-link`;
    const { status, body } = await operatePath(suite.account, 'POST', path);
    expect(status).toBe(201);
    const token = new URL(String(body['url'])).hash.replace('#sign-in=', '');
    const both = await Promise.all([0, 1].map(() => call({}, 'POST', '/sign-in/link', { token })));
    expect(both.map((answer) => answer.status).toSorted()).toEqual([201, 410]);
    // A link for one purpose is none for the other.
    expect((await call({}, 'POST', '/enrolment/options', { token })).status).toBe(410);
  });
});

describe('a session', () => {
  test('calls the operators’ API with its role, and is the actor with the address that trusted proxies report', async () => {
    const { browser, operator } = await signedIn('support');
    const path = `/accounts/${String(suite.account_id)}`;
    expect((await call(browser, 'GET', path)).body).toMatchObject({ account_id: suite.account_id });
    const from = { 'x-forwarded-for': '198.51.100.7' };
    expect(await call(browser, 'POST', `${path}/block`, undefined, from)).toMatchObject({ status: 200 });
    expect((await call(browser, 'POST', `${path}/unblock`, undefined, from)).status).toBe(200);
    expect((await call(browser, 'POST', '/products', { name: 'X' })).body).toMatchObject({
      code: 'insufficient_role',
    });
    const entry: unknown = await suite.database('audit_log').where({ action: 'account_blocked' }).first();
    expect(entry).toMatchObject({
      actor: `operator:person/${String(operator.operator_id)}`,
      address: '198.51.100.7',
      details: { operator: { name: operator.name, issuer: null } },
    });
  });

  test('is needed, with its CSRF token, from its own origin', async () => {
    const { browser } = await signedIn();
    const path = `/accounts/${String(suite.account_id)}/unblock`;
    expect((await call({}, 'POST', path)).status).toBe(401);
    const { cookies = {} } = browser;
    expect((await call({ cookies }, 'POST', path)).body).toMatchObject({ code: 'csrf_token_required' });
    for (const headers of [
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      // The Host header is no one's word.
      { origin: 'http://evil.example', host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    ]) {
      expect((await call(browser, 'POST', path, undefined, headers)).status).toBe(403);
    }
    expect((await call(browser, 'POST', path, undefined, { origin })).status).toBe(200);
  });

  const OPERATIONS = OPERATOR_CONSOLE_API.flatMap(({ operations }): readonly Described[] => operations);
  const ask = (browser: Browser, { method, path }: Described, headers?: Record<string, string>) => {
    const below = path.replace('/operator/api', '').replaceAll(/\{\w+\}/g, '0');
    return call(structuredClone(browser), method, below, method === 'GET' ? undefined : {}, headers);
  };

  test.each(OPERATOR_ROLES)('of a %s is refused every operation of other roles', async (role) => {
    const { browser } = await insertOperatorBrowser(suite.database, role);
    const others = OPERATIONS.filter(({ roles }) => roles !== undefined && !roleSuffices(role, roles));
    expect(others.length > 20).toBe(role !== 'admin');
    for (const operation of others) {
      const { status, body } = await ask(browser, operation);
      expect([operation.operationId, status, body['code']]).toEqual([
        operation.operationId,
        403,
        'insufficient_role',
      ]);
    }
  });

  test('changes nothing from another origin or without the CSRF token, whatever the operation', async () => {
    const { browser } = await insertOperatorBrowser(suite.database, 'admin');
    const changing = OPERATIONS.filter(({ method }) => method !== 'GET');
    const ofSessions = changing.filter(({ caller }) => caller !== 'anyone');
    expect([changing.length > 60, ofSessions.length > 60]).toEqual([true, true]);
    for (const operation of changing) {
      for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        const { status, body } = await ask(browser, operation, headers);
        expect([operation.operationId, status, body['code']]).toEqual([
          operation.operationId,
          403,
          'forbidden',
        ]);
      }
    }
    for (const operation of ofSessions) {
      const { status, body } = await ask({ cookies: browser.cookies }, operation);
      expect([operation.operationId, status, body['code']]).toEqual([
        operation.operationId,
        403,
        'csrf_token_required',
      ]);
    }
    expect((await call(browser, 'GET', '/session')).status).toBe(200);
  });

  test('is not accepted below /private, nor a credential below /operator, nor both', async () => {
    const { browser } = await signedIn();
    const cookie = cookieOf(browser);
    const ask = (path: string, headers: Record<string, string>) =>
      fetch(`${suite.account.privateUrl}${path}`, { headers });
    const basic = { authorization: operatorAuthorization };
    expect((await ask('/private/accounts', { cookie })).status).toBe(401);
    const refused = await ask('/operator/api/accounts', basic);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate') ?? '').not.toContain('Basic');
    for (const path of ['/private/accounts', '/operator/api/accounts', '/operator/api/session']) {
      expect((await ask(path, { cookie, ...basic })).status).toBe(400);
    }
  });

  test('has no operation that hands out what signs in, or a token', () => {
    const paths = OPERATOR_CONSOLE_API.flatMap(({ operations }) =>
      operations.map(({ method, path }) => `${method} ${path}`),
    );
    expect(paths.length).toBeGreaterThan(50);
    const secret = /^POST .*\/(?:copy|temporary-token|sign-in-link|enrolment-link|operators)$/;
    expect(paths.filter((path) => secret.test(path))).toEqual([]);
  });

  test('never gets what signs in, or a token', async () => {
    const { browser } = await signedIn();
    const account = `/accounts/${String(suite.account_id)}`;
    for (const path of [`${account}/temporary-token`, '/operators', '/applications/1/tokens/1/copy']) {
      expect([404, 405]).toContain((await call(browser, 'POST', path, {})).status);
    }
  });

  test('ends when it is ended, on every replica at once', async () => {
    const { browser, authenticator } = await signedIn();
    const other = await signIn(authenticator);
    const replica = await suite.startReplica();
    const cookie = cookieOf(other.browser);
    const ask = () => fetch(`${replica.privateUrl}/operator/api/session`, { headers: { cookie } });
    expect((await ask()).status).toBe(200);
    const id = String(other.answer.body['session_id']);
    expect((await call(browser, 'DELETE', `/sessions/${id}`)).status).toBe(204);
    expect((await ask()).status).toBe(401);
    expect((await call(browser, 'DELETE', `/sessions/${id}`)).status).toBe(404);
    expect(await call(browser, 'DELETE', '/session')).toMatchObject({
      status: 200,
      body: { end_session_url: null },
    });
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
  });

  test.each([
    ['idle for 30 minutes', { last_seen_at: new Date(Date.now() - 1_801_000) }],
    ['12 hours old', { expires_at: new Date(Date.now() - 1_000) }],
  ])('ends when it is %s', async (_, change) => {
    const { browser, session } = await signedIn();
    const { session_id } = session as { session_id: number };
    await suite.database('operator_sessions').where({ session_id }).update(change);
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
  });

  test('of another operator is out of reach', async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const { session_id } = other.session as { session_id: number };
    expect((await call(one.browser, 'DELETE', `/sessions/${String(session_id)}`)).status).toBe(404);
    const { body } = await call(one.browser, 'GET', '/sessions');
    expect(body['sessions']).toHaveLength(1);
  });
});

describe('searching', () => {
  const search = (browser: Browser, text: unknown) => call(browser, 'POST', '/search', { text });
  const entriesOf = ({ operator_id }: { operator_id: number }) =>
    suite
      .database('audit_log')
      .where({ actor: `operator:person/${String(operator_id)}`, action: 'operator_searched' })
      .orderBy('audit_id');

  test('finds by what customers quote, and is audited with its kind and number, without the text', async () => {
    const { browser, operator } = await signedIn('viewer');
    const { account_id } = suite;
    const account = (await suite.database('accounts').where({ account_id }).first()) as { email: string };
    const application = await makeApplication(suite.account, account_id);
    const own = { found: [{ account_id, what: account.email }] };
    expect((await search(browser, String(account_id))).body).toEqual(own);
    expect((await search(browser, ` ${account.email.toUpperCase()} `)).body).toEqual(own);
    expect((await search(browser, 'a'.repeat(32))).body).toEqual({ found: [] });
    const { client_id } = application;
    expect((await search(browser, client_id)).body).toEqual({
      found: [{ account_id, what: `App (${client_id})` }],
    });
    const details = ({ kind, found }: { kind: string; found: number }) => ({
      kind,
      found,
      operator: { name: operator.name, issuer: null },
    });
    const entries = (await entriesOf(operator)) as { details: unknown }[];
    expect(entries.map((entry) => entry.details)).toEqual(
      [
        { kind: 'account', found: 1 },
        { kind: 'email', found: 1 },
        { kind: 'request', found: 0 },
        { kind: 'text', found: 1 },
      ].map(details),
    );
  });

  test('finds an address by how it begins, with and without the @, from 3 characters on', async () => {
    const { browser } = await signedIn('viewer');
    const { account_id } = suite;
    const { email: what } = (await suite.database('accounts').where({ account_id }).first()) as {
      email: string;
    };
    const own = { found: [{ account_id, what }] };
    expect((await search(browser, what.slice(0, -3).toUpperCase())).body).toEqual(own);
    expect((await search(browser, what.split('@')[0])).body).toEqual(own);
    for (const text of ['%', '_%@', `${what}x`]) {
      expect((await search(browser, text)).body).toEqual({ found: [] });
    }
    // A client ID may have the same two characters.
    const { found } = (await search(browser, what.slice(0, 2))).body;
    expect(found).not.toContainEqual(own.found[0]);
  });

  test('finds by an invoice’s number, and by a token’s beginning', async () => {
    const { browser, operator } = await signedIn('viewer');
    const { account_id } = suite;
    const invoice = { account_id, state: 'paid', currency: 'eur', issued_at: new Date(), total: 4_900 };
    await suite
      .database('invoices')
      .insert({ ...invoice, stripe_invoice_id: 'in_searched', number: '6F1B2C3D-0007' });
    expect((await search(browser, '6f1b2c3d-0007')).body).toEqual({
      found: [{ account_id, what: 'Invoice 6F1B2C3D-0007 (paid)' }],
    });
    const { client_id } = await makeApplication(suite.account, account_id);
    const beginning = `tg_${applicationPart(client_id)}`;
    for (const text of [beginning, `${beginning}_`, `${beginning}_aB3d`, `${beginning}_aB3d…`]) {
      expect((await search(browser, text)).body).toEqual({
        found: [{ account_id, what: `App (${client_id})` }],
      });
    }
    expect((await search(browser, `tg_${'z'.repeat(22)}`)).body).toEqual({ found: [] });
    const entries = (await entriesOf(operator)) as { details: { kind: string } }[];
    expect(entries.map(({ details }) => details.kind)).toEqual([
      'text',
      'token',
      'token',
      'token',
      'token',
      'token',
    ]);
  });

  test('refuses a token, also a part of its secret, and says so without repeating it', async () => {
    const { browser, operator } = await signedIn('support');
    const token = `tg_${'a'.repeat(22)}_${'b'.repeat(43)}`;
    for (const text of [token, token.slice(0, 31)]) {
      const refused = await search(browser, text);
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body)).not.toContain(text);
    }
    expect(await entriesOf(operator)).toEqual([]);
  });

  test('is limited for each operator, also at a time', async () => {
    const [one, other] = [await signedIn('viewer'), await signedIn('viewer')];
    const statuses: number[] = [];
    for (let asked = 0; asked < 65; asked += 5) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => search(one.browser, '1')));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
    expect(await entriesOf(one.operator)).toHaveLength(60);
    expect((await search(other.browser, '1')).status).toBe(200);
  });
});

describe('removing', () => {
  const remove = (id: number) => operatePath(suite.account, 'DELETE', `/private/operators/${String(id)}`);

  test('ends sessions and passkeys', async () => {
    const { browser, authenticator, operator } = await signedIn('support');
    expect((await remove(operator.operator_id)).status).toBe(204);
    expect((await call(browser, 'GET', '/session')).status).toBe(401);
    expect((await signIn(authenticator)).answer.status).toBe(400);
    expect((await remove(operator.operator_id)).status).toBe(404);
  });

  test('of two admins at a time leaves one; all admins are told', async () => {
    await suite.database('operators').delete();
    const [one, other] = [await signedIn(), await signedIn()].map(({ operator }) => operator);
    const viewer = await createOperator('viewer');
    const ids = [Number(one?.operator_id), Number(other?.operator_id)];
    const answers = await Promise.all(ids.map(remove));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'last_admin' });
    expect(await suite.database('operators').where({ local_role: 'admin' })).toHaveLength(1);
    const entry = suite.database('audit_log').where({ action: 'operator_removed' });
    expect((await entry.orderBy('audit_id', 'desc'))[0]).toMatchObject({ actor: 'operator:suite-operator' });
    const subject = '[Tollgate] An admin among the operators was removed';
    for (const told of [one, other]) await mailAbout(mails, String(told?.email), subject);
    expect(mailsTo(mails, viewer.email)).toEqual([]);
  });

  test('an admin who has no passkey doesn’t keep one who has from being the last', async () => {
    await suite.database('operators').delete();
    const { operator } = await signedIn();
    const invited = await createOperator();
    expect((await remove(operator.operator_id)).body).toMatchObject({ code: 'last_admin' });
    expect((await remove(invited.operator_id)).status).toBe(204);
    await suite.database('operators').delete();
    // No admin can sign in either way.
    expect((await remove((await createOperator()).operator_id)).status).toBe(204);
  });

  test.each(['removal', 'sign-in'] as const)(
    'at the moment of a sign-in leaves no session; first comes the %s',
    async (first) => {
      const { operator, authenticator } = await signedIn('support');
      const { operator_id } = operator;
      const { body: options } = await call({}, 'POST', '/sign-in/passkey/options');
      const browser: Browser = {};
      const acts = {
        removal: () => remove(operator_id),
        'sign-in': () =>
          call(browser, 'POST', '/sign-in/passkey', { credential: authenticator.get(options) }),
      };
      const order: (keyof typeof acts)[] = [first, first === 'removal' ? 'sign-in' : 'removal'];
      // Both wait for this lock, the second behind the first.
      const gate = await suite.database.transaction();
      const asked: Partial<Record<keyof typeof acts, Promise<Answer>>> = {};
      try {
        await gate('operators').where({ operator_id }).forUpdate();
        for (const [index, name] of order.entries()) {
          asked[name] = acts[name]();
          await waitFor(async () => (await waitingForLocks()) === index + 1);
        }
      } finally {
        await gate.rollback();
      }
      expect((await asked.removal)?.status).toBe(204);
      expect((await asked['sign-in'])?.status).toBe(first === 'removal' ? 400 : 201);
      expect((await call(browser, 'GET', '/session')).status).toBe(401);
      expect(await suite.database('operator_sessions').where({ operator_id })).toEqual([]);
    },
  );

  test('an address is one operator’s', async () => {
    const { email } = await createOperator();
    const body = { name: 'Again', email: email.toUpperCase(), role: 'viewer' };
    expect((await operatePath(suite.account, 'POST', '/private/operators', body)).body).toMatchObject({
      code: 'email_taken',
    });
  });
});

async function waitingForLocks(): Promise<number> {
  return (await sessionsOf(suite.database).where({ wait_event_type: 'Lock' })).length;
}

describe('every path below /operator, without a session', () => {
  const ask = (path: string, accept: string) =>
    fetch(`${suite.account.privateUrl}${path}`, { headers: { accept }, redirect: 'manual' });

  test.each(['/operator/', '/operator', '/operator/accounts/1', '/operator/nothing'])(
    '%s is the sign-in page for people, and 401 for programs',
    async (path) => {
      const page = await ask(path, 'text/html');
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('content-security-policy')).toContain("connect-src 'self';");
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect((await ask(path, 'application/json')).status).toBe(401);
    },
  );

  test.each(['/operator/view', '/operator/view/', '/operator/view/plan'])(
    '%s is the page of a view, and 401 for programs',
    async (path) => {
      const page = await ask(path, 'text/html');
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('operator-view')]);
      expect((await ask(path, 'application/json')).status).toBe(401);
      expect(await (await ask('/operator/viewer', 'text/html')).text()).not.toContain('operator-view');
    },
  );

  test.each([
    '/operator/api/nothing',
    '/operator/api',
    '/operator/api/accounts',
    '/operator/assets/nothing.js',
  ])('%s is 401', async (path) => {
    expect((await ask(path, 'text/html')).status).toBe(401);
  });

  test.each(['/operatorx', '/operator%2f..%2fprivate', '//operator'])('%s isn’t below it', async (path) => {
    expect((await ask(path, 'text/html')).status).toBe(404);
  });
});

describe('set up', () => {
  test('says what is missing', async () => {
    await suite.database('operators').delete();
    const { body } = await call({}, 'GET', '/sign-in');
    expect(body).toEqual({ passkeys: { origin }, oidc: null, missing: 'operator' });
    await createOperator();
    expect((await call({}, 'GET', '/sign-in')).body).toEqual({
      passkeys: { origin },
      oidc: null,
      missing: null,
    });
  });

  test('without OPERATORS_URL, or with OPERATORS_LOCAL=false, there are no local operators', async () => {
    const body = { name: 'No', email: 'no@example.com', role: 'viewer' };
    for (const { missing, changed } of [
      { missing: 'operators_url', changed: { OPERATORS_URL: '' } },
      { missing: 'operators_local', changed: { OPERATORS_LOCAL: 'false' } },
    ]) {
      const other = await startOperatedAccount({
        databaseUrl: suite.databaseUrl,
        settings: { OPERATORS_URL: 'http://localhost:1/operator', ...changed },
      });
      try {
        const create = await operatePath(other.account, 'POST', '/private/operators', body);
        expect(create.body).toMatchObject({ code: 'local_operators_off' });
        const url = `${other.account.privateUrl}/operator/api/sign-in`;
        expect((await fetch(`${url}/passkey/options`, { method: 'POST' })).status).toBe(409);
        const ways: unknown = await (await fetch(url)).json();
        expect(ways).toEqual({ passkeys: null, oidc: null, missing });
      } finally {
        await other.close();
      }
    }
  });
});
