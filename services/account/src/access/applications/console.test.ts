import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAuthStandIn } from '../../../test/suite/stand-ins/auth-stand-in.ts';
import type { AuthStandIn } from '../../../test/suite/stand-ins/auth-stand-in.ts';
import {
  issueOwnToken,
  makeOwnApplication,
  newOwner,
  WANTED_APPLICATION,
} from '../../../test/suite/console.ts';
import type { OwnApplication } from '../../../test/suite/console.ts';
import { openBrowser, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';

let auth: AuthStandIn;
let suite: PeopleUnderTest;

beforeAll(async () => {
  auth = await startAuthStandIn();
  suite = await startPeople({ AUTH_PRIVATE_URL: auth.url });
});

afterAll(async () => {
  await suite.close();
  await auth.close();
});

function endpointsOf(application: string, token: string): [string, string, unknown?][] {
  return [
    ['GET', application],
    ['PATCH', application, { name: 'Mine now' }],
    ['DELETE', application],
    ['POST', `${application}/revoke`],
    ['POST', `${application}/rotate-secret`, { overlap_sec: 0 }],
    ['DELETE', `${application}/previous-secret`],
    ['GET', `${application}/tokens`],
    ['POST', `${application}/tokens`, { name: 'Token' }],
    ['POST', `${token}/copy`],
    ['POST', `${token}/revoke`],
  ];
}

describe('an application', () => {
  test('is made, listed, changed, rotated, revoked and deleted by its owner; its secret is shown once', async () => {
    const { browser, account_id } = await newOwner(suite);
    const made = await browser.request('POST', '/applications', WANTED_APPLICATION);
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { client_secret, ...record } = made.body;
    expect(record).toEqual({
      ...WANTED_APPLICATION,
      account_id,
      application_id: expect.any(Number),
      token_lifespan_label: '24 hours',
      client_id: expect.any(String),
      status: 'active',
      revocation_epoch: 0,
      created_at: expect.any(String),
      last_used_at: null,
      budget: null,
      public_client: false,
      redirect_uris: [],
      verified_at: null,
    });
    const path = `/applications/${String(record['application_id'])}`;
    expect(made.headers.get('location')).toBe(`/api/console${path}`);
    expect((await browser.request('GET', '/applications')).body).toEqual({
      applications: [record],
      next_cursor: null,
    });
    const read = await browser.request('GET', path);
    expect(read.body).toEqual({
      ...record,
      secrets: [{ created_at: expect.any(String), expires_at: null }],
      active_manual_tokens: 0,
    });

    const changed = { name: 'Renamed', token_lifespan_sec: 90, token_lifespan_label: '90 seconds' };
    const { token_lifespan_label: _, ...changes } = changed;
    expect((await browser.request('PATCH', path, changes)).body).toEqual({
      ...record,
      ...changed,
      delivered: true,
    });
    const rotated = await browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 604_800 });
    expect(rotated.body).toMatchObject({ ...changes, previous_secret_expires_at: expect.any(String) });
    expect(rotated.body['client_secret']).not.toBe(client_secret);
    const revoked = await browser.request('POST', `${path}/revoke`);
    expect(revoked.body).toMatchObject({ status: 'revoked', revocation_epoch: 1, delivered: true });
    expect((await browser.request('DELETE', path)).status).toBe(204);
    expect((await browser.request('GET', '/applications')).body['applications']).toEqual([]);

    const entries = await suite
      .database('audit_log')
      .where({ application_id: record['application_id'] })
      .orderBy('audit_id');
    expect(entries.map(({ action }) => action as string)).toEqual([
      'application_created',
      'application_changed',
      'secret_rotated',
      'application_revoked',
      'application_deleted',
    ]);
    expect(entries.every(({ actor }) => actor === `account:${String(account_id)}`)).toBe(true);
    expect(entries[1]).toMatchObject({
      details: {
        name_before: 'App',
        name: 'Renamed',
        token_lifespan_sec_before: 86_400,
        token_lifespan_sec: 90,
      },
    });
  });

  test('with a new lifespan: auth is told, tokens there are live on as long as they were made for', async () => {
    const { browser } = await newOwner(suite);
    const application = await makeOwnApplication(browser);
    const first = await issueOwnToken(browser, application);
    const toldBefore = auth.told.length;
    await browser.request('PATCH', application.path, { token_lifespan_sec: 60 });
    expect(auth.told.slice(toldBefore)).toEqual([{ client_id: application.client_id, revocation_epoch: 0 }]);
    const second = await issueOwnToken(browser, application);
    expect(Date.parse(first.expires_at) - Date.parse(second.expires_at)).toBeGreaterThan(86_000_000);
    const { body } = await browser.request('GET', `${application.path}/tokens`);
    expect(body['tokens']).toMatchObject([
      { token_id: second.token_id },
      { token_id: first.token_id, expires_at: first.expires_at },
    ]);
    // A change to the same values is no change: no message, no audit entry.
    const told = auth.told.length;
    const again = await browser.request('PATCH', application.path, { token_lifespan_sec: 60 });
    expect([again.status, auth.told.length]).toEqual([200, told]);
  });

  test('that is another account’s, an account’s hidden one, or none, is 404 by every endpoint', async () => {
    const [mine, theirs] = [await newOwner(suite), await newOwner(suite)];
    const application = await makeOwnApplication(theirs.browser);
    const token = await issueOwnToken(theirs.browser, application);
    await mine.browser.request('POST', '/temporary-token');
    const { account_id } = mine;
    const [hidden] = await suite
      .database('applications')
      .join('access_tokens', 'access_tokens.application_id', 'applications.application_id')
      .where({ account_id, type: 'temporary' })
      .select<{ application_id: number; token_id: number }[]>();
    const hiddenPath = `/applications/${String(hidden?.application_id)}`;
    for (const [applicationPath, tokenPath] of [
      [application.path, token.path],
      [hiddenPath, `${hiddenPath}/tokens/${String(hidden?.token_id)}`],
      ['/applications/999999999', '/applications/999999999/tokens/1'],
      ["/applications/1'--", '/applications/01/tokens/1'],
    ] as const) {
      for (const [method, path, body] of endpointsOf(applicationPath, tokenPath)) {
        const { status } = await mine.browser.request(method, path, body);
        expect([method, path, status]).toEqual([method, path, 404]);
      }
    }
    // Also with an application of one's own in the path.
    const own = await makeOwnApplication(mine.browser);
    for (const action of ['copy', 'revoke']) {
      const path = `${own.path}/tokens/${String(token.token_id)}/${action}`;
      expect((await mine.browser.request('POST', path)).status).toBe(404);
    }
    for (const list of ['/applications', '/tokens']) {
      expect((await mine.browser.request('GET', list)).text).not.toContain('"Token"');
    }
    const { body } = await theirs.browser.request('GET', application.path);
    expect(body).toMatchObject({ name: 'App', status: 'active' });
    expect((await theirs.browser.request('POST', `${token.path}/copy`)).status).toBe(200);
  });

  test.each([
    ['POST', '/applications', { name: '', type: 'temporary' }, ['name', 'type', 'token_lifespan_sec']],
    [
      'POST',
      '/applications',
      { ...WANTED_APPLICATION, name: 'a\0', token_lifespan_sec: 59 },
      ['name', 'token_lifespan_sec'],
    ],
    ['POST', '/applications', { ...WANTED_APPLICATION, account_id: 1 }, ['account_id']],
    [
      'PATCH',
      '/applications/1',
      { name: 'x'.repeat(201), token_lifespan_sec: 1.5 },
      ['name', 'token_lifespan_sec'],
    ],
    ['POST', '/applications/1/rotate-secret', { overlap_sec: 604_801 }, ['overlap_sec']],
    ['POST', '/applications/1/tokens', { name: 7 }, ['name']],
    [
      'GET',
      '/applications?limit=0&cursor=x&status=deleted&type=temporary',
      undefined,
      ['limit', 'cursor', 'status', 'type'],
    ],
    ['GET', '/tokens?limit=201&cursor=-1&status=active', undefined, ['limit', 'cursor', 'status']],
    ['GET', '/tokens?limit=1&limit=2', undefined, ['limit']],
  ])('%s %s with %j is 400 and names every faulty field', async (method, path, sent, fields) => {
    const { browser } = await newOwner(suite);
    const { status, body, headers } = await browser.request(method, path, sent);
    expect([status, headers.get('content-type')]).toEqual([
      400,
      expect.stringContaining('application/problem+json'),
    ]);
    expect((body['errors'] as { field: string }[]).map(({ field }) => field)).toEqual(fields);
  });

  test('is nobody’s without a session, and unchanged without the CSRF token', async () => {
    const { browser } = await newOwner(suite);
    const application = await makeOwnApplication(browser);
    const token = await issueOwnToken(browser, application);
    const endpoints = [
      ...endpointsOf(application.path, token.path),
      ['GET', '/applications'] as const,
      ['POST', '/applications', WANTED_APPLICATION] as const,
      ['GET', '/tokens'] as const,
      ['POST', '/temporary-token'] as const,
      ['DELETE', '/temporary-token'] as const,
    ];
    const stranger = openBrowser(suite.account);
    for (const [method, path, body] of endpoints) {
      expect([method, path, (await stranger.request(method, path, body)).status]).toEqual([
        method,
        path,
        401,
      ]);
      if (method === 'GET') continue;
      const forged = await browser.request(method, path, body, { 'x-csrf-token': 'none' });
      expect([method, path, forged.body['code']]).toEqual([method, path, 'csrf_token_required']);
    }
    expect((await browser.request('GET', application.path)).body).toMatchObject({ status: 'active' });
  });

  test('lists go over pages, newest first, and by status and type', async () => {
    const { browser } = await newOwner(suite);
    const made = [
      await makeOwnApplication(browser, { type: 'manual' }),
      await makeOwnApplication(browser),
      await makeOwnApplication(browser, { type: 'manual' }),
    ];
    await browser.request('POST', `${String(made[2]?.path)}/revoke`);
    const ids = made.map(({ application_id }) => application_id);
    const list = async (query: string) => {
      const { body } = await browser.request('GET', `/applications${query}`);
      const found = (body['applications'] as OwnApplication[]).map(({ application_id }) => application_id);
      return { found, cursor: body['next_cursor'] as string | null };
    };
    const first = await list('?limit=2');
    const second = await list(`?limit=2&cursor=${String(first.cursor)}`);
    expect([...first.found, ...second.found]).toEqual(ids.toReversed());
    expect(second.cursor).toBeNull();
    expect((await list('?type=manual')).found).toEqual([ids[2], ids[0]]);
    expect((await list('?type=manual&status=active')).found).toEqual([ids[0]]);
    expect((await list('?status=revoked')).found).toEqual([ids[2]]);
  });
});

describe('a token made by hand', () => {
  test('is made, listed by its status and over all applications, copied and revoked', async () => {
    const { browser } = await newOwner(suite);
    const [one, other] = [await makeOwnApplication(browser), await makeOwnApplication(browser)];
    const [first, second] = [
      await issueOwnToken(browser, one, 'First'),
      await issueOwnToken(browser, other, 'Second'),
    ];
    const copied = await browser.request('POST', `${first.path}/copy`);
    expect(copied.body).toMatchObject({ name: 'First', access_token: first.access_token });
    expect((await browser.request('POST', `${second.path}/revoke`)).body).toMatchObject({
      status: 'Revoked',
    });
    expect((await browser.request('POST', `${second.path}/copy`)).body['code']).toBe('token_not_active');
    const expired = await issueOwnToken(browser, one);
    const past = new Date(Date.now() - 10_000);
    await suite
      .database('access_tokens')
      .where({ token_id: expired.token_id })
      .update({ issued_at: new Date(+past - 60_000), expires_at: past });
    const list = async (query: string) => {
      const { body } = await browser.request('GET', `/tokens${query}`);
      return (body['tokens'] as { token_id: number; status: string }[]).map(
        ({ token_id, status }) => [token_id, status] as const,
      );
    };
    expect(await list('')).toEqual([
      [expired.token_id, 'Expired'],
      [second.token_id, 'Revoked'],
      [first.token_id, 'Active'],
    ]);
    expect(await list('?status=Active')).toEqual([[first.token_id, 'Active']]);
    expect(await list('?status=Expired')).toEqual([[expired.token_id, 'Expired']]);
    expect(await list('?status=Revoked')).toEqual([[second.token_id, 'Revoked']]);
    await browser.request('POST', `${one.path}/revoke`);
    expect(await list('?status=Revoked')).toHaveLength(3);
  });

  test('of an account without an application is the temporary one, the same until it is revoked', async () => {
    const { browser } = await newOwner(suite);
    const [one, again] = await Promise.all([1, 2].map(() => browser.request('POST', '/temporary-token')));
    expect(one?.body).toEqual({
      access_token: expect.stringMatching(/^tg_/),
      expires_at: expect.any(String),
    });
    expect(again?.body).toEqual(one?.body);
    expect((await browser.request('DELETE', '/temporary-token')).body).toEqual({ delivered: true });
    const next = await browser.request('POST', '/temporary-token');
    expect(next.body['access_token']).not.toBe(one?.body['access_token']);
    expect((await browser.request('GET', '/tokens')).body['tokens']).toEqual([]);
    expect((await browser.request('GET', '/applications')).body['applications']).toEqual([]);
  });
});
