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
import { raceAtRow } from '../../../test/suite/database/held-row.ts';
import { insertPerson, startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { insertTeam } from '../../../test/suite/database/records.ts';

const MAX_APPLICATIONS = 4;

let auth: AuthStandIn;
let suite: PeopleUnderTest;

beforeAll(async () => {
  auth = await startAuthStandIn();
  suite = await startPeople({
    AUTH_PRIVATE_URL: auth.url,
    LOG_LEVEL: 'trace',
    MAX_APPLICATIONS_PER_ACCOUNT: String(MAX_APPLICATIONS),
  });
});

afterAll(async () => {
  await suite.close();
  await auth.close();
});

describe('who is blocked, or whose payer is,', () => {
  test.each(['account', 'payer'])('the %s: sees, copies and revokes, and makes nothing', async (whom) => {
    const [person, manager] = [await newOwner(suite), await insertPerson(suite.database)];
    await insertTeam(suite.database, manager.account_id, person.account_id);
    const { browser } = person;
    const application = await makeOwnApplication(browser);
    const token = await issueOwnToken(browser, application);
    const { account_id } = whom === 'account' ? person : manager;
    await suite.database('accounts').where({ account_id }).update({ blocked_at: new Date() });
    for (const [path, body] of [
      ['/applications', WANTED_APPLICATION],
      [`${application.path}/rotate-secret`, { overlap_sec: 0 }],
      [`${application.path}/tokens`, { name: 'Token' }],
      ['/temporary-token', undefined],
    ] as const) {
      const { status, body: answer } = await browser.request('POST', path, body);
      expect([path, status, answer['code']]).toEqual([path, 403, 'account_blocked']);
    }
    for (const [method, path] of [
      ['GET', '/applications'],
      ['GET', application.path],
      ['GET', '/tokens'],
      ['POST', `${token.path}/copy`],
      ['POST', `${token.path}/revoke`],
      ['POST', `${application.path}/revoke`],
    ] as const) {
      expect([path, (await browser.request(method, path)).status]).toEqual([path, 200]);
    }
  });
});

describe('at once', () => {
  test('more applications than an account may have: as many as it may are made', async () => {
    const { browser, account_id } = await newOwner(suite);
    const row = { table: 'accounts', where: { account_id }, waiting: MAX_APPLICATIONS + 1 } as const;
    const answers = await raceAtRow(suite.database, row, () =>
      Array.from({ length: 2 * MAX_APPLICATIONS }, () =>
        browser.request('POST', '/applications', WANTED_APPLICATION),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_APPLICATIONS);
    expect(answers.filter(({ body }) => body['code'] === 'application_limit_reached')).toHaveLength(
      MAX_APPLICATIONS,
    );
    const { body } = await browser.request('GET', '/applications');
    const [first] = body['applications'] as OwnApplication[];
    await browser.request('DELETE', `/applications/${String(first?.application_id)}`);
    expect((await browser.request('POST', '/applications', WANTED_APPLICATION)).status).toBe(201);
  });

  test('rotations: one comes to pass, and two secrets are live', async () => {
    const { browser } = await newOwner(suite);
    const { path } = await makeOwnApplication(browser);
    const answers = await Promise.all(
      [1, 2, 3].map(() => browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 600 })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const { secrets } = (await browser.request('GET', path)).body as {
      secrets: { expires_at: string | null }[];
    };
    const live = secrets.filter(
      ({ expires_at }) => expires_at === null || Date.parse(expires_at) > Date.now(),
    );
    expect(live).toHaveLength(2);
  });

  test('a revocation and new tokens: no token outlives it', async () => {
    const { browser } = await newOwner(suite);
    const { path } = await makeOwnApplication(browser);
    const issued = () => browser.request('POST', `${path}/tokens`, { name: 'Token' });
    const [one, revoked, other] = await Promise.all([
      issued(),
      browser.request('POST', `${path}/revoke`),
      issued(),
    ]);
    expect(revoked.status).toBe(200);
    for (const { status, body } of [one, other]) {
      expect([201, 409]).toContain(status);
      if (status === 409) expect(body['code']).toBe('application_revoked');
    }
    const { body } = await browser.request('GET', `${path}/tokens`);
    const made = [one, other].filter(({ status }) => status === 201);
    expect(body['tokens']).toHaveLength(made.length);
    for (const { status } of body['tokens'] as { status: string }[]) expect(status).toBe('Revoked');
  });

  test('a change of the name and of the lifespan, a rotation and a deletion: none is undone by another', async () => {
    const { browser } = await newOwner(suite);
    const { path } = await makeOwnApplication(browser);
    const answers = await Promise.all([
      browser.request('PATCH', path, { name: 'Renamed' }),
      browser.request('PATCH', path, { token_lifespan_sec: 7_200 }),
      browser.request('POST', `${path}/revoke`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await browser.request('GET', path)).body).toMatchObject({
      name: 'Renamed',
      token_lifespan_sec: 7_200,
      status: 'revoked',
      revocation_epoch: 1,
    });
    const [deleted] = await Promise.all([
      browser.request('DELETE', path),
      browser.request('PATCH', path, { name: 'Late' }),
      browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 0 }),
    ]);
    expect(deleted.status).toBe(204);
    expect((await browser.request('GET', path)).status).toBe(404);
  });
});

test('no client secret and no token is in a log or the audit log, nor in Postgres as it is', async () => {
  const { browser } = await newOwner(suite);
  const application = await makeOwnApplication(browser);
  const token = await issueOwnToken(browser, application);
  const rotated = await browser.request('POST', `${application.path}/rotate-secret`, { overlap_sec: 60 });
  await browser.request('POST', `${token.path}/copy`);
  const temporary = await browser.request('POST', '/temporary-token');
  const secrets = [
    application.client_secret,
    rotated.body['client_secret'],
    token.access_token,
    temporary.body['access_token'],
  ].map(String);
  for (const secret of secrets) {
    for (const answer of [
      await browser.request('POST', `${application.path}/tokens`, { name: secret, [secret]: 1 }),
      await browser.request('GET', `/tokens?cursor=${secret}`),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain(secret);
    }
  }
  const tables = [
    'audit_log',
    'applications',
    'application_secrets',
    'access_tokens',
    'client_change_outbox',
  ];
  const rows = await Promise.all(tables.map((table) => suite.database(table).select()));
  const places = JSON.stringify(rows) + suite.account.logs();
  for (const secret of secrets) expect(places).not.toContain(secret);
});
