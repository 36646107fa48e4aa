import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  answerRequest,
  makePages,
  newActingApplication,
  newPkce,
  openAuthorize,
  parametersOf,
  requestIdOf,
} from '../../../test/suite/authorization.ts';
import type { ActingApplication, AuthorizationParameters } from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod, insertTeam } from '../../../test/suite/database/records.ts';

const ISSUER = 'https://tokens.example';

const pages = makePages();
let suite: AccountUnderTest;
let application: ActingApplication;
let person: Owner;

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      CONSOLE_DIR: pages.directory,
      PUBLIC_URL: 'https://data.example',
      ISSUER_URL: ISSUER,
      STREAMING_URL: 'https://data.example',
      TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    },
    authSettings: { ISSUER_URL: ISSUER },
  });
  [application, person] = await Promise.all([newActingApplication(suite), newOwner(suite)]);
  await insertPeriod(suite.database, person.account_id);
});

afterAll(async () => {
  await suite.close();
  pages.remove();
});

const parameters = (): AuthorizationParameters => parametersOf(application, newPkce());
const open = (changed: AuthorizationParameters | string) => openAuthorize(suite.account, changed);

function without(name: string): AuthorizationParameters {
  const rest = parameters();
  Reflect.deleteProperty(rest, name);
  return rest;
}

/** The fields of the answer that the application gets. */
async function refusal(changed: AuthorizationParameters | string) {
  const response = await openAuthorize(suite.account, changed, { cookie: person.browser.cookie ?? '' });
  expect(response.status).toBe(303);
  const to = new URL(response.headers.get('location') ?? '');
  expect(`${to.origin}${to.pathname}`).toBe('https://app.example/callback');
  // What is registered stays.
  expect(to.searchParams.get('from')).toBe('tollgate');
  expect(to.searchParams.get('iss')).toBe(ISSUER);
  expect(to.searchParams.get('code')).toBeNull();
  return Object.fromEntries(to.searchParams);
}

test('a request waits for the person, and the browser has only its id', async () => {
  const asked = parameters();
  const response = await open(asked);
  expect(response.headers.get('location')).toMatch(
    /^https:\/\/data\.example\/user\/connect\/[A-Za-z0-9_-]{43}$/,
  );
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  const id = await requestIdOf(response);
  const rows = JSON.stringify(await suite.database('authorization_requests').select());
  expect(rows).not.toContain(id);
  const to = await answerRequest(person.browser, id);
  expect(`${to.origin}${to.pathname}`).toBe('https://app.example/callback');
  expect(Object.fromEntries(to.searchParams)).toEqual({
    from: 'tollgate',
    code: expect.stringMatching(/^tgc_/),
    state: asked['state'],
    iss: ISSUER,
  });
});

test('a denial is an answer too, and each request is answered once', async () => {
  const asked = parameters();
  const id = await requestIdOf(await open(asked));
  const to = await answerRequest(person.browser, id, 'deny');
  expect(Object.fromEntries(to.searchParams)).toMatchObject({
    error: 'access_denied',
    state: asked['state'],
    iss: ISSUER,
  });
  for (const answer of ['allow', 'deny']) {
    const path = `/authorization-requests/${id}/${answer}`;
    expect((await person.browser.request('POST', path)).status).toBe(404);
  }
});

test('of ten concurrent answers one gets a code', async () => {
  const id = await requestIdOf(await open(parameters()));
  const path = `/authorization-requests/${id}/allow`;
  const answers = await Promise.all(Array.from({ length: 10 }, () => person.browser.request('POST', path)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(9).fill(404)]);
});

test('the page says who asks, where the answer goes, and who pays', async () => {
  const id = await requestIdOf(await open(parameters()));
  const path = `/authorization-requests/${id}`;
  const { body } = await person.browser.request('GET', path);
  expect(body).toMatchObject({
    application: { name: 'Chart maker', client_id: application.client_id, developer: 'Someone' },
    redirect_host: 'app.example',
    account: { email: person.email },
    payer: { is_own: true },
  });
  const manager = await newOwner(suite);
  const member = await newOwner(suite);
  await insertTeam(suite.database, manager.account_id, member.account_id);
  const asMember = await member.browser.request('GET', path);
  expect(asMember.body['payer']).toEqual({ is_own: false, name: 'Someone', team_name: 'Team' });
});

test('a request ends after ten minutes, and with its application', async () => {
  const id = await requestIdOf(await open(parameters()));
  await suite.database('authorization_requests').update({ expires_at: new Date() });
  expect((await person.browser.request('GET', `/authorization-requests/${id}`)).status).toBe(404);
  expect((await person.browser.request('POST', `/authorization-requests/${id}/allow`)).status).toBe(404);

  const ended = await newActingApplication(suite);
  const other = await requestIdOf(await open(parametersOf(ended, newPkce())));
  await ended.developer.browser.request('POST', `${ended.path}/revoke`);
  expect((await person.browser.request('POST', `/authorization-requests/${other}/allow`)).status).toBe(404);
});

describe('a person is told, and nothing is sent anywhere', () => {
  test.each<{ what: string; fault: string; query: () => AuthorizationParameters | string }>([
    { what: 'no client', fault: 'unknown_client', query: () => without('client_id') },
    {
      what: 'an unknown client',
      fault: 'unknown_client',
      query: () => ({ ...parameters(), client_id: '0' }),
    },
    { what: 'no redirect URI', fault: 'redirect_uri', query: () => without('redirect_uri') },
    {
      what: 'another redirect URI',
      fault: 'redirect_uri',
      query: () => ({ ...parameters(), redirect_uri: 'https://evil.example/' }),
    },
    {
      what: 'a redirect URI with more behind it',
      fault: 'redirect_uri',
      query: () => ({ ...parameters(), redirect_uri: `${application.redirect_uri}&to=https://evil.example` }),
    },
    {
      what: 'two redirect URIs',
      fault: 'malformed',
      query: () => `${new URLSearchParams(parameters()).toString()}&redirect_uri=https://evil.example/`,
    },
    {
      what: 'two challenges',
      fault: 'malformed',
      query: () => `${new URLSearchParams(parameters()).toString()}&code_challenge=${'a'.repeat(43)}`,
    },
    { what: 'nothing at all', fault: 'unknown_client', query: () => '' },
  ])('$what', async ({ fault, query }) => {
    const response = await open(query());
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = await response.text();
    expect(text).toContain(`<meta name="authorization-fault" content="${fault}">`);
    expect(text).not.toContain('evil.example');
  });

  test('an application of another type, a revoked one, and a connection’s own client', async () => {
    const automatic = await person.browser.request('POST', '/applications', {
      name: 'x',
      type: 'automatic',
      token_lifespan_sec: 60,
    });
    const revoked = await newActingApplication(suite);
    await revoked.developer.browser.request('POST', `${revoked.path}/revoke`);
    for (const client_id of [String(automatic.body['client_id']), revoked.client_id]) {
      expect((await open({ ...parameters(), client_id })).status).toBe(400);
    }
  });
});

test('without a session nothing is redirected but a sound request: the application may be an attacker’s', async () => {
  for (const [changed, cookie] of [
    [without('scope'), ''],
    [{ ...parameters(), prompt: 'none' }, `tollgate_session=${'a'.repeat(43)}`],
  ] as const) {
    const response = await openAuthorize(suite.account, changed, { cookie });
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    const text = await response.text();
    expect(text).toContain('<meta name="authorization-fault" content="refused">');
    expect(text).not.toContain('app.example');
  }
});

describe('the application is told', () => {
  test.each<{ what: string; error: string; query: () => AuthorizationParameters }>([
    { what: 'no response type', error: 'invalid_request', query: () => without('response_type') },
    {
      what: 'the implicit grant',
      error: 'unsupported_response_type',
      query: () => ({ ...parameters(), response_type: 'token' }),
    },
    {
      what: 'a fragment for the answer',
      error: 'invalid_request',
      query: () => ({ ...parameters(), response_mode: 'fragment' }),
    },
    { what: 'no challenge', error: 'invalid_request', query: () => without('code_challenge') },
    {
      what: 'a challenge that is too short',
      error: 'invalid_request',
      query: () => ({ ...parameters(), code_challenge: 'abc' }),
    },
    {
      what: 'a challenge with padding',
      error: 'invalid_request',
      query: () => ({ ...parameters(), code_challenge: `${'a'.repeat(43)}=` }),
    },
    { what: 'no challenge method', error: 'invalid_request', query: () => without('code_challenge_method') },
    {
      what: 'the method plain',
      error: 'invalid_request',
      query: () => ({ ...parameters(), code_challenge_method: 'plain' }),
    },
    { what: 'no scope', error: 'invalid_scope', query: () => without('scope') },
    { what: 'another scope', error: 'invalid_scope', query: () => ({ ...parameters(), scope: 'api admin' }) },
    {
      what: 'an unknown resource',
      error: 'invalid_target',
      query: () => ({ ...parameters(), resource: 'https://data.example/other' }),
    },
    {
      what: 'the data API’s scope for MCP',
      error: 'invalid_scope',
      query: () => ({ ...parameters(), resource: 'https://data.example/mcp' }),
    },
    {
      what: 'MCP’s scope without its resource',
      error: 'invalid_scope',
      query: () => ({ ...parameters(), scope: 'mcp' }),
    },
    {
      what: 'mutations alone',
      error: 'invalid_scope',
      query: () => ({ ...parameters(), scope: 'mcp:write', resource: 'https://data.example/mcp' }),
    },
    {
      what: 'a request object',
      error: 'invalid_request',
      query: () => ({ ...parameters(), request_uri: 'https://evil.example/' }),
    },
    { what: 'no person', error: 'access_denied', query: () => ({ ...parameters(), prompt: 'none' }) },
  ])('$what: $error', async ({ error, query }) => {
    const asked = query();
    expect(await refusal(asked)).toMatchObject({ error, state: asked['state'] });
  });

  test('a state that can’t be one isn’t sent back', async () => {
    for (const state of ['', 'ä', 'a\nb', 'x'.repeat(1_001)]) {
      expect(await refusal({ ...parameters(), state })).not.toHaveProperty('state');
    }
  });
});

test.each(['https://data.example', 'https://data.example/', 'https://data.example/graphql'])(
  'the resource %s is the data API',
  async (resource) => {
    expect((await open({ ...parameters(), resource })).status).toBe(303);
  },
);

test('a request for MCP gets its scopes: what is asked for, or reading', async () => {
  const resource = 'https://data.example/mcp';
  for (const [scope, scopes] of [
    ['mcp offline_access', ['mcp']],
    ['mcp:write mcp', ['mcp', 'mcp:write']],
    [undefined, ['mcp']],
  ] as const) {
    const asked = { ...without('scope'), ...(scope !== undefined && { scope }), resource };
    const id = await requestIdOf(await open(asked));
    const { body } = await person.browser.request('GET', `/authorization-requests/${id}`);
    expect(body['scopes']).toEqual(scopes);
  }
});

test('another method is 405', async () => {
  const response = await fetch(`${suite.account.publicUrl}/oauth2/authorize`, { method: 'POST' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

describe('the consent can’t be given for someone', () => {
  test('without the session’s CSRF token, or from another origin, nothing is allowed', async () => {
    const id = await requestIdOf(await open(parameters()));
    const url = `${suite.account.publicUrl}/api/console/authorization-requests/${id}/allow`;
    const cookie = person.browser.cookie ?? '';
    const csrf = person.browser.csrfToken ?? '';
    for (const [headers, status] of [
      [{ cookie }, 403],
      [{ cookie, 'x-csrf-token': 'x' }, 403],
      [{ cookie, 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site' }, 403],
      [{ cookie, 'x-csrf-token': csrf, origin: 'https://app.example' }, 403],
      [{}, 401],
    ] as const) {
      expect((await fetch(url, { method: 'POST', headers })).status).toBe(status);
    }
    await answerRequest(person.browser, id);
  });

  test('a token of the API allows nothing', async () => {
    const id = await requestIdOf(await open(parameters()));
    const url = `${suite.account.publicUrl}/api/console/authorization-requests/${id}/allow`;
    const temporary = await person.browser.request('POST', '/temporary-token');
    const authorization = `Bearer ${String(temporary.body['access_token'])}`;
    expect((await fetch(url, { method: 'POST', headers: { authorization } })).status).toBe(401);
  });

  test('no page of it can be framed', async () => {
    const faulty = await open({ ...parameters(), redirect_uri: 'https://evil.example/' });
    const consent = await fetch(`${suite.account.publicUrl}/user/connect/${'a'.repeat(43)}`);
    for (const { headers } of [faulty, consent]) {
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toMatch(/DENY|SAMEORIGIN/);
    }
  });

  test('a viewer of a team can’t allow', async () => {
    const [manager, viewer] = await Promise.all([newOwner(suite), newOwner(suite)]);
    await insertTeam(suite.database, manager.account_id, viewer.account_id);
    const { account_id } = viewer;
    await suite.database('team_members').where({ account_id }).update({ member_role: 'viewer' });
    const id = await requestIdOf(await open(parameters()));
    const { status, body } = await viewer.browser.request('POST', `/authorization-requests/${id}/allow`);
    expect([status, body['code']]).toEqual([403, 'team_role']);
  });

  test('a blocked account can’t allow, and can deny', async () => {
    const blocked = await newOwner(suite);
    const id = await requestIdOf(await open(parameters()));
    await suite
      .database('accounts')
      .where({ account_id: blocked.account_id })
      .update({ blocked_at: new Date() });
    const { status, body } = await blocked.browser.request('POST', `/authorization-requests/${id}/allow`);
    expect([status, body['code']]).toEqual([403, 'account_blocked']);
    await answerRequest(blocked.browser, id, 'deny');
  });
});

test('an address may open 300 requests a minute', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const asked = new URLSearchParams(parameters()).toString();
  const statuses = new Set<number>();
  for (let round = 0; round < 31; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => openAuthorize(suite.account, asked, headers)),
    );
    for (const { status } of answers) statuses.add(status);
  }
  expect([...statuses].toSorted()).toEqual([303, 429]);
  expect((await open(asked)).status).toBe(303);
});

describe('an application of the type', () => {
  const make = (changes: object) =>
    person.browser.request('POST', '/applications', {
      name: 'Chart maker',
      type: 'authorization',
      token_lifespan_sec: 3_600,
      redirect_uris: ['https://app.example/cb'],
      ...changes,
    });
  const faultOf = async (changes: object) => {
    const { status, body } = await make(changes);
    return [status, (body['errors'] as { field: string }[] | undefined)?.[0]?.field];
  };

  test('needs redirect URIs that can be registered, and a lifespan of a day at most', async () => {
    expect(await faultOf({ redirect_uris: [] })).toEqual([400, 'redirect_uris']);
    expect(await faultOf({ redirect_uris: undefined })).toEqual([400, 'redirect_uris']);
    expect(await faultOf({ redirect_uris: ['javascript:alert(1)'] })).toEqual([400, 'redirect_uris']);
    expect(await faultOf({ redirect_uris: ['https://a.example/', 'https://a.example/'] })).toEqual([
      400,
      'redirect_uris',
    ]);
    const many = Array.from({ length: 11 }, (_, index) => `https://a.example/${String(index)}`);
    expect(await faultOf({ redirect_uris: many })).toEqual([400, 'redirect_uris']);
    expect(await faultOf({ token_lifespan_sec: 86_401 })).toEqual([400, 'token_lifespan_sec']);
    expect(await faultOf({ type: 'automatic' })).toEqual([400, 'redirect_uris']);
    expect(await faultOf({ type: 'manual', redirect_uris: undefined, public_client: true })).toEqual([
      400,
      'public_client',
    ]);
  });

  test('changes its redirect URIs for new requests; a public client gets no secret', async () => {
    const app = await newActingApplication(suite, { public_client: true });
    const { browser } = app.developer;
    const changed = await browser.request('PATCH', app.path, { redirect_uris: ['com.example.app:/cb'] });
    expect(changed.body['redirect_uris']).toEqual(['com.example.app:/cb']);
    const asked = parametersOf(app, newPkce());
    expect((await open(asked)).status).toBe(400);
    expect((await open({ ...asked, redirect_uri: 'com.example.app:/cb' })).status).toBe(303);
    expect((await browser.request('PATCH', app.path, { redirect_uris: [] })).status).toBe(400);
    expect((await browser.request('POST', `${app.path}/rotate-secret`, { overlap_sec: 0 })).status).toBe(400);
  });
});
