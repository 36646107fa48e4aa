import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  answerRequest,
  connect,
  exchange,
  newActingApplication,
  newPkce,
  obtainCode,
  openAuthorize,
  parametersOf,
  refresh,
  requestIdOf,
} from '../../../test/suite/authorization.ts';
import type { ActingApplication } from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { sessionsOf } from '../../../test/suite/database/sessions.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { getUsage } from '../../../test/suite/requests.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';

let suite: AccountUnderTest;
let application: ActingApplication;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
  application = await newActingApplication(suite, { public_client: true });
});

afterAll(() => suite.close());

async function newTeam(): Promise<[Owner, Owner]> {
  const [manager, member] = await Promise.all([newOwner(suite), newOwner(suite)]);
  await insertPeriod(suite.database, manager.account_id);
  await makeTeam(manager);
  await joinTeam(manager, member);
  return [manager, member];
}

type Listed = { connection_id: number; account_id: number };

const listed = async ({ browser }: Owner, query = '') =>
  (await browser.request('GET', `/team/connections${query}`)).body as {
    connections: Listed[];
    next_cursor: string | null;
  };

const setRule = ({ browser }: Owner, allows_applications: boolean) =>
  browser.request('PUT', '/team/connection-rule', { allows_applications });

const disconnect = ({ browser }: Owner, { connection_id }: Pick<Listed, 'connection_id'>) =>
  browser.request('DELETE', `/team/connections/${String(connection_id)}`);

async function expectDead(accessToken: string): Promise<void> {
  await waitFor(async () => (await getUsage(suite.account, accessToken)).status === 401);
}

const reasonsOf = async ({ account_id }: Owner) => {
  const entries = await suite
    .database('audit_log')
    .where({ action: 'connection_ended', account_id })
    .select('actor', 'details');
  return (entries as { actor: string; details: { reason: string } }[]).map(({ actor, details }) => [
    actor,
    details.reason,
  ]);
};

test('the manager sees what acts for members, page by page, and ends it', async () => {
  const [manager, member] = await newTeam();
  const tokens = await connect(suite, application, member.browser);
  await connect(suite, application, manager.browser);
  const first = await listed(manager, '?limit=1');
  expect(first.connections).toMatchObject([{ account_id: manager.account_id }]);
  const rest = await listed(manager, `?limit=1&cursor=${String(first.next_cursor)}`);
  expect(rest).toMatchObject({
    connections: [
      {
        account_id: member.account_id,
        member_name: 'Someone',
        name: 'Chart maker',
        client_id: application.client_id,
        is_verified: false,
        scope: 'api',
        points_usage: 0,
      },
    ],
    next_cursor: null,
  });
  const [connection = { connection_id: 0 }] = rest.connections;
  expect((await disconnect(manager, connection)).status).toBe(200);
  await expectDead(tokens.access_token);
  expect(await refresh(suite.auth, application, tokens.refresh_token)).toMatchObject({
    error: 'invalid_grant',
  });
  expect((await listed(manager)).connections).toHaveLength(1);
  expect(await reasonsOf(member)).toEqual([[`account:${String(manager.account_id)}`, 'manager']]);
});

test('members and other managers see and end nothing, and who has left is out of reach', async () => {
  const [manager, member] = await newTeam();
  const [stranger] = await newTeam();
  await connect(suite, application, member.browser);
  const [connection = { connection_id: 0 }] = (await listed(manager)).connections;
  for (const [by, seen, ended, ruled] of [
    [member, 403, 403, 403],
    [stranger, 200, 404, 204],
    [await newOwner(suite), 404, 404, 404],
  ] as const) {
    expect((await by.browser.request('GET', '/team/connections')).status).toBe(seen);
    expect((await disconnect(by, connection)).status).toBe(ended);
    expect((await setRule(by, true)).status).toBe(ruled);
  }
  expect((await listed(stranger)).connections).toEqual([]);
  expect((await member.browser.request('POST', '/team/leave')).status).toBe(204);
  expect((await listed(manager)).connections).toEqual([]);
  expect((await disconnect(manager, connection)).status).toBe(404);
});

describe('a team that forbids applications', () => {
  test('ends those of all its members, and no others', async () => {
    const [manager, member] = await newTeam();
    const outsider = await newOwner(suite);
    await insertPeriod(suite.database, outsider.account_id);
    const [ofManager, ofMember, ofOutsider] = [
      await connect(suite, application, manager.browser),
      await connect(suite, application, member.browser),
      await connect(suite, application, outsider.browser),
    ];
    expect((await setRule(manager, false)).status).toBe(204);
    for (const { access_token, refresh_token } of [ofManager, ofMember]) {
      await expectDead(access_token);
      expect((await refresh(suite.auth, application, refresh_token)).error).toBe('invalid_grant');
    }
    expect((await refresh(suite.auth, application, ofOutsider.refresh_token)).status).toBe(200);
    expect((await listed(manager)).connections).toEqual([]);
    expect(await reasonsOf(member)).toEqual([[`account:${String(manager.account_id)}`, 'team']]);
    expect((await member.browser.request('GET', '/team')).body['allows_applications']).toBe(false);
  });

  test('lets no member authorize one, nor exchange a code from before, until it allows it again', async () => {
    const [manager, member] = await newTeam();
    const before = await obtainCode(suite.account, application, member.browser);
    await setRule(manager, false);
    expect(await exchange(suite.auth, application, before)).toMatchObject({
      status: 400,
      error: 'invalid_grant',
    });
    const id = await requestIdOf(await openAuthorize(suite.account, parametersOf(application, newPkce())));
    const path = `/authorization-requests/${id}`;
    expect((await member.browser.request('GET', path)).body['is_forbidden_by_team']).toBe(true);
    const refused = await member.browser.request('POST', `${path}/allow`);
    expect([refused.status, refused.body['code']]).toEqual([403, 'forbidden']);
    await setRule(manager, true);
    // The request is still there.
    expect((await answerRequest(member.browser, id)).searchParams.get('code')).toMatch(/^tgc_/);
  });

  test.each(['by invitation', 'by an operator'])('ends those of who joins it %s', async (way) => {
    const [manager] = await newTeam();
    const joiner = await newOwner(suite);
    await insertPeriod(suite.database, joiner.account_id);
    await setRule(manager, false);
    const tokens = await connect(suite, application, joiner.browser);
    if (way === 'by invitation') await joinTeam(manager, joiner);
    else {
      const { team_id } = (await manager.browser.request('GET', '/team')).body;
      const path = `/private/teams/${String(team_id)}/members`;
      const { account_id } = joiner;
      expect((await operatePath(suite.account, 'POST', path, { account_id })).status).toBe(201);
    }
    await expectDead(tokens.access_token);
    expect((await refresh(suite.auth, application, tokens.refresh_token)).error).toBe('invalid_grant');
  });

  test('and concurrent exchanges leave no connection behind', async () => {
    const [manager, member] = await newTeam();
    const codes = await Promise.all(
      Array.from({ length: 6 }, () => obtainCode(suite.account, application, member.browser)),
    );
    const [answers] = await Promise.all([
      Promise.all(codes.map((code) => exchange(suite.auth, application, code))),
      setRule(manager, false),
    ]);
    for (const { status, access_token } of answers) if (status === 200) await expectDead(access_token);
    await setRule(manager, true);
    expect((await listed(manager)).connections).toEqual([]);
  });

  test('and who joins it during an exchange keeps no connection', async () => {
    const [manager] = await newTeam();
    const joiner = await newOwner(suite);
    await insertPeriod(suite.database, joiner.account_id);
    await setRule(manager, false);
    const code = await obtainCode(suite.account, application, joiner.browser);
    const waiting = async () => (await sessionsOf(suite.database).where({ wait_event_type: 'Lock' })).length;
    const joined = Promise.withResolvers<undefined>();
    let hasJoined = false;
    const exchanged = await suite.database.transaction(async (transaction) => {
      // The exchange has read the person's teams by now, and waits to make the connection.
      await transaction.raw('LOCK TABLE connections IN EXCLUSIVE MODE');
      const underWay = exchange(suite.auth, application, code);
      await waitFor(async () => (await waiting()) === 1);
      void joinTeam(manager, joiner).then(() => {
        hasJoined = true;
        joined.resolve(undefined);
      }, joined.reject);
      await waitFor(async () => hasJoined || (await waiting()) === 2);
      return { underWay };
    });
    const { access_token } = await exchanged.underWay;
    await joined.promise;
    await expectDead(access_token);
  });
});
