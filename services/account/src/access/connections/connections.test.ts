import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clientIdOf, newAccessToken } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { connect, newActingApplication, refresh } from '../../../test/suite/authorization.ts';
import type { ActingApplication, TokenAnswer } from '../../../test/suite/authorization.ts';
import { exported } from '../../../test/suite/contract/exports.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { operate, operatorCredentials } from '../../../test/suite/operator.ts';
import { getUsage } from '../../../test/suite/requests.ts';

let suite: AccountUnderTest;
let application: ActingApplication;
let person: Owner;
let tokens: TokenAnswer;

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      OPERATOR_CREDENTIALS: operatorCredentials,
      AUTHORIZATION_CODE_LIFETIME_SEC: '30',
      REFRESH_TOKEN_IDLE_TIMEOUT_SEC: '7200',
      CONNECTION_LIFETIME_SEC: '86400',
    },
  });
});

beforeEach(async () => {
  [application, person] = await Promise.all([
    newActingApplication(suite, { public_client: true }),
    newOwner(suite),
  ]);
  await insertPeriod(suite.database, person.account_id);
  tokens = await connect(suite, application, person.browser);
  expect(await usageStatus()).toBe(200);
});

afterAll(() => suite.close());

const usageStatus = async (token = tokens.access_token) => (await getUsage(suite.account, token)).status;
const listed = async ({ browser }: Owner = person) =>
  (await browser.request('GET', '/connections')).body['connections'] as { connection_id: number }[];

async function expectEnded(): Promise<void> {
  await waitFor(async () => (await usageStatus()) === 401);
  expect(await refresh(suite.auth, application, tokens.refresh_token)).toMatchObject({
    status: 400,
    error: 'invalid_grant',
  });
  expect(await listed()).toEqual([]);
}

test('its owner sees who acts for them, and where it runs', async () => {
  expect(await listed()).toMatchObject([
    {
      name: 'Chart maker',
      client_id: application.client_id,
      developer: 'Someone',
      redirect_host: 'app.example',
      points_usage: 0,
    },
  ]);
  expect(await listed(application.developer)).toEqual([]);
});

test('hidden applications of connections are listed nowhere else, and can’t be changed', async () => {
  const [{ connection_id } = { connection_id: 0 }] = await listed();
  const { browser } = person;
  expect((await browser.request('GET', '/applications')).body['applications']).toEqual([]);
  const path = `/applications/${String(connection_id)}`;
  for (const [method, below] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/revoke'],
  ] as const) {
    expect((await browser.request(method, `${path}${below}`)).status).toBe(404);
    expect((await operate(suite.account, method, `/${String(connection_id)}${below}`)).status).toBe(404);
  }
  expect((await browser.request('POST', `${path}/tokens`, { name: 'x' })).status).toBe(404);
});

test('codes, refresh tokens and connections last as long as the settings say', async () => {
  const secondsLeft = async (table: string, of: object): Promise<number> => {
    const rows = await suite
      .database(table)
      .where(of)
      .select(suite.database.raw('CAST(extract(epoch FROM expires_at - now()) AS float8) AS left'));
    return Math.max(...(rows as { left: number }[]).map(({ left }) => left));
  };
  const [{ connection_id: application_id } = { connection_id: 0 }] = await listed();
  const lefts = [
    [await secondsLeft('authorization_codes', { connection_id: application_id }), 30],
    [await secondsLeft('refresh_tokens', { application_id }), 7_200],
    [await secondsLeft('connections', { application_id }), 86_400],
  ] as const;
  for (const [left, wanted] of lefts) {
    expect(left).toBeLessThanOrEqual(wanted);
    expect(left).toBeGreaterThan(wanted - 60);
  }
});

test('is listed while it has a token of either kind', async () => {
  const [{ connection_id: application_id } = { connection_id: 0 }] = await listed();
  const change = (changes: object) =>
    suite.database('refresh_tokens').where({ application_id }).update(changes);
  // The access token lives for an hour.
  await change({ expires_at: new Date() });
  expect(await listed()).toHaveLength(1);
  expect(await usageStatus()).toBe(200);
  await change({ issued_at: new Date(Date.now() - 86_400_000) });
  expect(await listed()).toEqual([]);
});

test('its owner’s export has it', async () => {
  const { rows } = await exported(suite.account, person.browser);
  expect(rows('connections')).toMatchObject([
    { name: 'Chart maker', client_id: application.client_id, developer: 'Someone', scope: 'api' },
  ]);
});

describe('after its application’s revocation', () => {
  test('a public application stays revoked: there is no secret to renew', async () => {
    const path = application.path;
    const { browser } = application.developer;
    expect((await browser.request('POST', `${path}/revoke`)).status).toBe(200);
    const renewed = await browser.request('POST', `${path}/rotate-secret`, { overlap_sec: 0 });
    expect(renewed.status).toBe(400);
    expect((await browser.request('GET', path)).body['status']).toBe('revoked');
  });

  test('a confidential one that gets a new secret has no connection any more', async () => {
    const confidential = await newActingApplication(suite);
    const given = await connect(suite, confidential, person.browser);
    const { browser } = confidential.developer;
    expect((await browser.request('POST', `${confidential.path}/revoke`)).status).toBe(200);
    const renewed = await browser.request('POST', `${confidential.path}/rotate-secret`, { overlap_sec: 0 });
    expect(renewed.body['status']).toBe('active');
    const again = { ...confidential, client_secret: String(renewed.body['client_secret']) };
    await waitFor(async () => (await usageStatus(given.access_token)) === 401);
    expect((await refresh(suite.auth, again, given.refresh_token)).error).toBe('invalid_grant');
    // People authorize it again.
    expect((await connect(suite, again, person.browser)).status).toBe(200);
  });
});

describe('its tokens end when', () => {
  test('its owner disconnects it, who can do so again', async () => {
    const [{ connection_id } = { connection_id: 0 }] = await listed();
    const path = `/connections/${String(connection_id)}`;
    expect((await person.browser.request('DELETE', path)).body).toEqual({ delivered: true });
    await expectEnded();
    expect((await person.browser.request('DELETE', path)).status).toBe(200);
  });

  test('its developer deletes the application', async () => {
    expect((await application.developer.browser.request('DELETE', application.path)).status).toBe(204);
    await expectNothingLeft();
  });

  test('an operator revokes the application', async () => {
    const path = `/${String(application.application_id)}/revoke`;
    expect((await operate(suite.account, 'POST', path)).status).toBe(200);
    await expectNothingLeft();
  });

  test.each(['access_token', 'refresh_token'] as const)('the application revokes its %s', async (which) => {
    const response = await fetch(`${suite.auth.publicUrl}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: application.client_id, token: tokens[which] }),
    });
    expect(response.status).toBe(200);
    await expectEnded();
  });

  test('the person closes their account', async () => {
    const wanted = { email: person.email, current_password: person.password };
    expect((await person.browser.request('POST', '/account/deletion', wanted)).status).toBeLessThan(300);
    await waitFor(async () => (await usageStatus()) === 401);
    expect((await refresh(suite.auth, application, tokens.refresh_token)).error).toBe('invalid_grant');
  });

  /** The application can't authenticate any more. */
  async function expectNothingLeft(): Promise<void> {
    await waitFor(async () => (await usageStatus()) === 401);
    expect((await refresh(suite.auth, application, tokens.refresh_token)).status).toBeGreaterThanOrEqual(400);
    expect(await listed()).toEqual([]);
  }
});

test('a deletion ends hundreds of connections', async () => {
  const people = await Promise.all(Array.from({ length: 20 }, () => newOwner(suite)));
  await Promise.all(people.map(({ account_id }) => insertPeriod(suite.database, account_id)));
  const all = await Promise.all(people.map(({ browser }) => connect(suite, application, browser)));
  const before = await Promise.all(all.map(({ access_token }) => usageStatus(access_token)));
  expect(new Set(before)).toEqual(new Set([200]));
  await suite.database.raw(
    `WITH hidden AS (
       INSERT INTO applications (account_id, name, type, token_lifespan_sec, client_id)
       SELECT :accountId, 'Many', 'connection', 3600, gen_random_uuid() FROM generate_series(1, 500)
       RETURNING application_id
     )
     INSERT INTO connections (application_id, client_application_id, account_id, scope, expires_at)
     SELECT application_id, :acting, :accountId, 'api', now() + interval '1 day' FROM hidden`,
    { accountId: person.account_id, acting: application.application_id },
  );
  expect((await application.developer.browser.request('DELETE', application.path)).status).toBe(204);
  const dead = async () =>
    (await Promise.all(all.map(({ access_token }) => usageStatus(access_token)))).every(
      (status) => status === 401,
    );
  await waitFor(dead);
  await waitFor(async () => (await suite.database('client_change_outbox').select()).length === 0);
});

test('a revocation and ten concurrent refreshes: none of their tokens lives', async () => {
  const [{ connection_id } = { connection_id: 0 }] = await listed();
  const refreshes = Array.from({ length: 10 }, () => refresh(suite.auth, application, tokens.refresh_token));
  const ended = person.browser.request('DELETE', `/connections/${String(connection_id)}`);
  const answers = await Promise.all(refreshes);
  expect((await ended).status).toBe(200);
  for (const { status, access_token } of answers) {
    if (status === 200) await waitFor(async () => (await usageStatus(access_token)) === 401);
  }
  await expectEnded();
});

test('another person’s connection is not_found', async () => {
  const [stranger, [{ connection_id } = { connection_id: 0 }]] = await Promise.all([
    newOwner(suite),
    listed(),
  ]);
  expect((await stranger.browser.request('DELETE', `/connections/${String(connection_id)}`)).status).toBe(
    404,
  );
  expect(await usageStatus()).toBe(200);
});

test('another application can’t end it by RFC 7009, and an invented token ends nothing', async () => {
  const other = await newActingApplication(suite, { public_client: true });
  const revoke = ({ client_id }: ActingApplication, token: string) =>
    fetch(`${suite.auth.publicUrl}/oauth2/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id, token }),
    });
  await revoke(other, tokens.access_token);
  await revoke(other, tokens.refresh_token);
  const connection = clientIdOf(tokens.access_token.split('_')[1] ?? '') ?? '';
  for (const prefix of ['tg', 'tgr']) await revoke(application, newAccessToken(prefix, connection));
  expect(await usageStatus()).toBe(200);
  expect((await refresh(suite.auth, application, tokens.refresh_token)).status).toBe(200);
});

test('the activity log names the application, and why it ended', async () => {
  const [{ connection_id } = { connection_id: 0 }] = await listed();
  await person.browser.request('DELETE', `/connections/${String(connection_id)}`);
  const { body } = await person.browser.request('GET', '/activity?kind=applications');
  const entries = body['activity'] as { action: string }[];
  expect(entries.map(({ action }) => action)).toEqual(['connection_ended', 'connection_made']);
});
