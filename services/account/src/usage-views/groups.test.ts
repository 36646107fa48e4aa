import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { createApiDocument } from '../api-document/api-document.ts';
import { makeOwnApplication, newOwner } from '../suite/console.ts';
import type { Owner } from '../suite/console.ts';
import { openContract } from '../suite/contract.ts';
import type { OpenApi } from '../suite/contract.ts';
import { operatePath, operatorCredentials } from '../suite/operator.ts';
import { startPeople } from '../suite/people.ts';
import type { PeopleUnderTest } from '../suite/people.ts';
import { insertApplication, insertPeriod } from '../suite/records.ts';
import { joinTeam, makeTeam } from '../suite/team.ts';
import { countPastUsage } from '../suite/usage-rows.ts';
import { dayAgo, fetchUsage, shownUsage } from '../suite/usage-views.ts';

/** Usage by application, member and API version: who sees whose, under which names, as JSON and CSV. */

const RANGE = `from=${dayAgo(5)}&to=${dayAgo(2)}`;
const AT = `${dayAgo(3)}T12:00:00Z`;

let suite: PeopleUnderTest;
/** What no test changes. */
let team: Awaited<ReturnType<typeof newTeam>>;
let user: Awaited<ReturnType<typeof newUser>>;

beforeAll(async () => {
  suite = await startPeople({ OPERATOR_CREDENTIALS: operatorCredentials });
  [team, user] = await Promise.all([newTeam(), newUser()]);
});

afterAll(async () => {
  await suite.close();
});

const periodOf = ({ account_id }: Owner) =>
  insertPeriod(suite.database, account_id, {
    started_at: new Date(`${dayAgo(20)}T00:00:00Z`),
    ended_at: new Date(Date.now() + 86_400_000),
  });

/** A manager with a member and one who has left; each has called on the manager's plan. */
async function newTeam() {
  const [manager, member, former] = [await newOwner(suite), await newOwner(suite), await newOwner(suite)];
  const period_id = await periodOf(manager);
  await suite.database('billing_periods').where({ period_id }).update({ team_slots_limit: 5 });
  await makeTeam(manager);
  await joinTeam(manager, member, former);
  const used = [
    [manager, 1],
    [member, 2],
    [former, 4],
  ] as const;
  await countPastUsage(
    suite.database,
    used.map(([{ account_id }, points]) => ({
      at: AT,
      payer_id: manager.account_id,
      period_id,
      account_id,
      application_id: 1_000_000 + account_id,
      points,
    })),
  );
  const left = await former.browser.request('POST', '/team/leave');
  expect(left.status).toBe(204);
  return { manager, member, former, period_id };
}

describe('in a team', () => {
  test('the manager sees by member what the plan has paid for, also for one who has left', async () => {
    const { manager, member, former } = team;
    const shown = await shownUsage(manager, `${RANGE}&group_by=member`);
    expect([shown.view, shown.payer_id, shown.usage.points_usage]).toEqual(['billed', manager.account_id, 7]);
    expect(shown.groups).toMatchObject([
      // The address isn't the team's any more.
      {
        account_id: former.account_id,
        name: 'Someone',
        email: null,
        in_team: false,
        usage: { points_usage: 4 },
      },
      { account_id: member.account_id, email: member.email, in_team: true, usage: { points_usage: 2 } },
      { account_id: manager.account_id, email: manager.email, in_team: true, usage: { points_usage: 1 } },
    ]);
    const [used] = shown.buckets.filter(({ groups }) => groups.length > 0);
    expect(used).toMatchObject({ started_at: `${dayAgo(3)}T00:00:00Z`, usage: { points_usage: 7 } });
    expect(used?.groups.map((group) => group['account_id'])).toEqual(
      [manager, member, former].map(({ account_id }) => account_id),
    );
    const one = await shownUsage(manager, `${RANGE}&account_id=${String(former.account_id)}`);
    expect(one.usage.points_usage).toBe(4);
    expect((await shownUsage(manager, `${RANGE}&view=own`)).usage.points_usage).toBe(1);
  });

  test('a member sees its own usage and nobody else’s', async () => {
    const { manager, member } = team;
    const shown = await shownUsage(member, `${RANGE}&group_by=member`);
    expect([shown.view, shown.payer_id]).toEqual(['own', manager.account_id]);
    expect(shown.groups).toMatchObject([{ account_id: member.account_id, usage: { points_usage: 2 } }]);
    expect(JSON.stringify(shown)).not.toContain(manager.email);
    const refused = await member.browser.request(
      'GET',
      `/usage?${RANGE}&account_id=${String(manager.account_id)}`,
    );
    expect([refused.status, refused.body['code']]).toEqual([403, 'forbidden']);
    const itself = await shownUsage(member, `${RANGE}&account_id=${String(member.account_id)}`);
    expect(itself.usage.points_usage).toBe(2);
    // On its own plan nobody has called: whoever pays for it, not who is in the team, decides.
    for (const filter of [
      '',
      `&account_id=${String(manager.account_id)}`,
      `&application_id=${String(1_000_000 + manager.account_id)}`,
    ]) {
      const billed = await shownUsage(member, `${RANGE}&view=billed&group_by=member${filter}`);
      expect([billed.usage.points_usage, billed.groups]).toEqual([0, []]);
    }
  });

  test('who has left sees what it has used there as its own, and nothing of it on its plan', async () => {
    const { former } = team;
    const shown = await shownUsage(former, RANGE);
    expect([shown.view, shown.payer_id, shown.usage.points_usage]).toEqual(['billed', former.account_id, 0]);
    expect((await shownUsage(former, `${RANGE}&view=own`)).usage.points_usage).toBe(4);
  });

  test('who has handed the team over still sees what its plan has paid for', async () => {
    const { manager, member } = await newTeam();
    const { account_id } = member;
    expect((await manager.browser.request('POST', '/team/hand-over', { account_id })).status).toBe(200);
    expect((await shownUsage(manager, RANGE)).usage.points_usage).toBe(1);
    expect((await shownUsage(manager, `${RANGE}&view=billed`)).usage.points_usage).toBe(7);
    expect((await shownUsage(member, RANGE)).usage.points_usage).toBe(0);
  });

  test('an operator sees all addresses', async () => {
    const { manager, former } = team;
    const path = `/private/accounts/${String(manager.account_id)}/usage?${RANGE}&group_by=member`;
    const { body } = await operatePath(suite.account, 'GET', path);
    expect((body['groups'] as unknown[])[0]).toMatchObject({ email: former.email, in_team: false });
  });
});

/** Someone who has used applications of every kind, one of them deleted since. */
async function newUser() {
  const owner = await newOwner(suite);
  const period_id = await periodOf(owner);
  const { account_id } = owner;
  const [kept, deleted] = [
    await makeOwnApplication(owner.browser, { name: '=HYPERLINK("http://evil.example";"x"), "App"' }),
    await makeOwnApplication(owner.browser, { name: 'Gone' }),
  ];
  await owner.browser.request('DELETE', deleted.path);
  const temporary = await insertApplication(suite.database, account_id);
  await suite
    .database('applications')
    .where({ application_id: temporary.application_id })
    .update({ type: 'temporary', name: 'Temporary token' });
  const event = { at: AT, payer_id: account_id, period_id, account_id };
  await countPastUsage(suite.database, [
    { ...event, application_id: kept.application_id, points: 8 },
    { ...event, application_id: kept.application_id, points: 8, at: `${dayAgo(4)}T00:00:00Z` },
    { ...event, application_id: deleted.application_id, points: 4, api_version: 'v1' },
    { ...event, application_id: temporary.application_id, points: 2 },
    { ...event, application_id: 0, points: 1, api_version: 'v1' },
  ]);
  return { owner, kept, deleted, temporary };
}

describe('by application', () => {
  test('deleted ones, the temporary token’s and unknown ones are told as what they are', async () => {
    const { owner, kept, deleted, temporary } = user;
    const { groups } = await shownUsage(owner, `${RANGE}&group_by=application`);
    const { account_id } = owner;
    expect(groups).toMatchObject([
      {
        application_id: kept.application_id,
        account_id,
        type: 'automatic',
        status: 'active',
        usage: { points_usage: 16 },
      },
      { application_id: deleted.application_id, name: 'Gone', status: 'deleted' },
      { application_id: temporary.application_id, name: 'Temporary token', type: 'temporary' },
      { application_id: 0, account_id: null, name: null, type: null, status: null },
    ]);
  });

  test('one can be asked for; another account’s is as one without usage', async () => {
    const { owner, deleted } = user;
    const stranger = await newOwner(suite);
    const query = `${RANGE}&group_by=application&application_id=${String(deleted.application_id)}`;
    expect((await shownUsage(owner, query)).usage.points_usage).toBe(4);
    for (const view of ['billed', 'own']) {
      const shown = await shownUsage(stranger, `${query}&view=${view}`);
      expect([shown.usage.points_usage, shown.groups]).toEqual([0, []]);
      expect(JSON.stringify(shown)).not.toContain('Gone');
    }
  });
});

test('by API version, and of one', async () => {
  const { owner } = user;
  const { groups } = await shownUsage(owner, `${RANGE}&group_by=api_version`);
  expect(groups).toMatchObject([
    { api_version: 'v2', usage: { points_usage: 18 } },
    { api_version: 'v1', usage: { points_usage: 5 } },
  ]);
  expect((await shownUsage(owner, `${RANGE}&api_version=v1`)).usage.points_usage).toBe(5);
});

test('each answer is as the API’s document says', async () => {
  const { owner } = user;
  const contract = openContract(createApiDocument('/') as unknown as OpenApi);
  const paths = ['none', 'application', 'member', 'api_version'].flatMap((by) => [
    `/usage?${RANGE}&group_by=${by}`,
    `/usage?group_by=${by}&view=own&interval=hour`,
  ]);
  for (const path of [...paths, '/usage/pace', '/usage?from=x']) {
    const answer = await owner.browser.request('GET', path);
    expect([path, contract.faultsOfAnswer('GET', `/api/console${path}`, answer)]).toEqual([path, []]);
  }
});

describe('as CSV', () => {
  test('by format or by Accept, as a file, with nothing that a spreadsheet would run', async () => {
    const { owner, kept, deleted } = user;
    const query = `${RANGE}&group_by=application`;
    for (const response of [
      await fetchUsage(suite.account, owner, `${query}&format=csv`),
      await fetchUsage(suite.account, owner, query, { accept: 'text/csv, application/json;q=0.5' }),
      await fetchUsage(suite.account, owner, `${query}&format=csv`, { accept: 'application/json' }),
    ]) {
      const name = `usage-${dayAgo(5)}-to-${dayAgo(2)}-by-day-and-application.csv`;
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename=${name}`);
      expect([response.headers.get('vary'), response.headers.get('cache-control')]).toEqual([
        expect.stringMatching(/accept/i),
        'no-store',
      ]);
      const lines: Record<string, string>[] = parse(await response.text(), { columns: true });
      expect(lines.map((line) => [line['started_at'], line['application_id'], line['points_usage']])).toEqual(
        [
          [`${dayAgo(4)}T00:00:00Z`, String(kept.application_id), '8'],
          ...[
            ['0', '1'],
            [String(kept.application_id), '8'],
            [String(deleted.application_id), '4'],
          ].map(([id, points]) => [`${dayAgo(3)}T00:00:00Z`, id, points]),
          [`${dayAgo(3)}T00:00:00Z`, expect.any(String), '2'],
        ],
      );
      expect(lines[0]?.['application_name']).toBe('\'=HYPERLINK("http://evil.example";"x"), "App"');
    }
  });

  test('is not what one gets who doesn’t ask for it', async () => {
    const { owner } = user;
    for (const init of [
      {},
      { accept: '*/*' },
      { accept: 'application/json, text/csv' },
      { accept: 'image/png' },
    ]) {
      const response = await fetchUsage(suite.account, owner, RANGE, init);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    const asked = await fetchUsage(suite.account, owner, `${RANGE}&format=json`, { accept: 'text/csv' });
    expect(asked.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const head = await fetchUsage(suite.account, owner, `${RANGE}&format=csv`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('holds more than JSON does, and what is too much for JSON is refused', async () => {
    const owner = await newOwner(suite);
    const period_id = await periodOf(owner);
    const hours = Array.from(
      { length: 48 },
      (_, hour) => Date.parse(`${dayAgo(4)}T00:00:00Z`) + hour * 3_600_000,
    );
    await countPastUsage(
      suite.database,
      hours.flatMap((at) =>
        Array.from({ length: 210 }, (_, application_id) => ({
          at: new Date(at),
          payer_id: owner.account_id,
          account_id: owner.account_id,
          period_id,
          application_id,
        })),
      ),
    );
    const query = `${RANGE}&interval=hour&group_by=application`;
    const refused = await owner.browser.request('GET', `/usage?${query}`);
    expect([refused.status, refused.body['errors']]).toEqual([
      400,
      [{ field: 'group_by', message: expect.stringContaining('more than 10000') }],
    ]);
    const response = await fetchUsage(suite.account, owner, `${query}&format=csv`);
    expect(parse(await response.text(), { columns: true })).toHaveLength(48 * 210);
    expect((await shownUsage(owner, `${RANGE}&interval=hour`)).usage.requests_usage).toBe(48 * 210);
  });
});
