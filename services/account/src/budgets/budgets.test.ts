import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { makeOwnApplication, newOwner } from '../../test/suite/console.ts';
import type { OwnApplication, Owner } from '../../test/suite/console.ts';
import { insertPeriod } from '../../test/suite/database/records.ts';
import { operatePath, operatorCredentials } from '../../test/suite/operator.ts';
import { joinTeam, makeTeam } from '../../test/suite/team.ts';
import { allCounted, appendBatch, usageEvent } from '../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;
let manager: Owner;
let member: Owner;
let application: OwnApplication;
let period_id: number;

beforeAll(async () => {
  suite = await startAccount({
    settings: { OPERATOR_CREDENTIALS: operatorCredentials, TRUSTED_PROXIES: '127.0.0.0/8 ::1/128' },
  });
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  [manager, member] = [await newOwner(suite), await newOwner(suite)];
  period_id = await insertPeriod(suite.database, manager.account_id, { team_slots_limit: 9 });
  await makeTeam(manager);
  await joinTeam(manager, member);
  application = await makeOwnApplication(member.browser);
});

const NONE = { points_per_period: null, points_per_day: null };

const UNSPENT = { points_in_period: 0, points_today: 0 };

const ofMember = ({ account_id }: Owner) => `/team/members/${String(account_id)}/budget`;

const managed = ({ application_id }: OwnApplication) => `/team/applications/${String(application_id)}/budget`;

const own = ({ path }: OwnApplication) => `${path}/budget`;

type Entry = { actor: string; application_id: number | null; details: Record<string, unknown> };

async function audited(account_id: number, action: string): Promise<Entry[]> {
  return suite
    .database<Entry & { account_id: number; action: string; audit_id: number }>('audit_log')
    .where({ account_id, action })
    .orderBy('audit_id')
    .select('actor', 'application_id', 'details');
}

describe("an application's budget", () => {
  test('is set, changed and removed by its owner, who sees what was spent', async () => {
    const { application_id } = application;
    const none = {
      application_id,
      ...NONE,
      manager_points_per_period: null,
      manager_points_per_day: null,
      spent: UNSPENT,
    };
    expect((await member.browser.request('GET', own(application))).body).toEqual(none);
    const figures = { points_per_period: 500, points_per_day: 0 };
    const set = await member.browser.request('PUT', own(application), figures);
    expect([set.status, set.body]).toEqual([200, { ...none, ...figures }]);
    const use = { payer_id: manager.account_id, account_id: member.account_id, period_id, application_id };
    await appendBatch(suite.store, [usageEvent({ ...use, points: 7 })]);
    await allCounted(suite);
    const seen = await member.browser.request('GET', own(application));
    expect(seen.body).toEqual({ ...none, ...figures, spent: { points_in_period: 7, points_today: 7 } });
    // A field that is missing is no limit.
    const less = await member.browser.request('PUT', own(application), { points_per_day: 3 });
    expect(less.body).toMatchObject({ points_per_period: null, points_per_day: 3 });
    await member.browser.request('PUT', own(application), NONE);
    expect(await suite.database('application_budgets').where({ application_id })).toEqual([]);
  });

  test('is limited further by the manager of the owner’s team, without a change of the owner’s figures', async () => {
    const figures = { points_per_period: 500, points_per_day: null };
    await member.browser.request('PUT', own(application), figures);
    const lower = { points_per_period: 20, points_per_day: 5 };
    const set = await manager.browser.request('PUT', managed(application), lower);
    const both = { ...figures, manager_points_per_period: 20, manager_points_per_day: 5 };
    expect([set.status, set.body]).toMatchObject([200, both]);
    expect((await member.browser.request('PUT', own(application), NONE)).body).toMatchObject({
      ...NONE,
      manager_points_per_period: 20,
    });
    await member.browser.request('PUT', own(application), figures);
    await manager.browser.request('PUT', managed(application), NONE);
    expect((await member.browser.request('GET', own(application))).body).toMatchObject({
      ...figures,
      manager_points_per_period: null,
      manager_points_per_day: null,
    });
  });

  test('of another account is 404, and a member can’t set one as a manager', async () => {
    const stranger = await newOwner(suite);
    const figures = { points_per_day: 5 };
    const status = async ({ browser }: Owner, path: string, body?: unknown) =>
      (await browser.request(body === undefined ? 'GET' : 'PUT', path, body)).status;
    expect(await status(stranger, own(application))).toBe(404);
    expect(await status(stranger, own(application), figures)).toBe(404);
    expect(await status(manager, own(application), figures)).toBe(404);
    // Without a team, as a member, and as the manager of another team.
    expect(await status(stranger, managed(application), figures)).toBe(404);
    expect(await status(member, managed(application), figures)).toBe(403);
    await makeTeam(stranger);
    expect(await status(stranger, managed(application), figures)).toBe(404);
    // The manager's own application has no other manager.
    const managers = await makeOwnApplication(manager.browser);
    expect(await status(manager, managed(managers), figures)).toBe(404);
    expect(
      await suite.database('application_budgets').where({ application_id: application.application_id }),
    ).toEqual([]);
  });

  test('is recorded with its figures before and after, once for a change that changes something', async () => {
    const { application_id } = application;
    for (const points_per_day of [5, 5, 6])
      await member.browser.request('PUT', own(application), { points_per_day });
    await manager.browser.request('PUT', managed(application), { points_per_day: 2 });
    const entries = await audited(member.account_id, 'application_budget_changed');
    expect(
      entries.map(({ actor, details }) => [
        actor,
        details['points_per_day_before'],
        details['points_per_day'],
      ]),
    ).toEqual([
      [`account:${String(member.account_id)}`, null, 5],
      [`account:${String(member.account_id)}`, 5, 6],
      [`account:${String(manager.account_id)}`, null, 2],
    ]);
    expect(entries[0]).toMatchObject({ application_id, details: { name: 'App', points_per_period: null } });
  });

  test('is stated by the application itself and by lists of applications', async () => {
    const { application_id, path } = application;
    const figures = { points_per_period: 500, points_per_day: null };
    await member.browser.request('PUT', own(application), figures);
    await manager.browser.request('PUT', managed(application), { points_per_day: 5 });
    await makeOwnApplication(member.browser);
    const budget = { ...figures, manager_points_per_period: null, manager_points_per_day: 5 };
    expect((await member.browser.request('GET', path)).body).toMatchObject({ budget });
    const expected = [{ budget: null }, { application_id, budget }];
    expect((await member.browser.request('GET', '/applications')).body).toMatchObject({
      applications: expected,
    });
    const list = `/private/applications?account_id=${String(member.account_id)}`;
    expect((await operatePath(suite.account, 'GET', list)).body).toMatchObject({ applications: expected });
  });

  test('is set by operators as the owner’s', async () => {
    const path = `/private/applications/${String(application.application_id)}/budget`;
    const { status, body } = await operatePath(suite.account, 'PUT', path, { points_per_period: 9 });
    expect([status, body]).toMatchObject([200, { points_per_period: 9, manager_points_per_period: null }]);
    expect((await operatePath(suite.account, 'GET', path)).body).toEqual(body);
    const missing = '/private/applications/999999999/budget';
    expect((await operatePath(suite.account, 'PUT', missing, {})).status).toBe(404);
  });

  test('has whole figures from 0 to 2^53 - 1', async () => {
    for (const points_per_day of [-1, 1.5, '5', 2 ** 53, true]) {
      const { status, body } = await member.browser.request('PUT', own(application), { points_per_day });
      expect([points_per_day, status]).toEqual([points_per_day, 400]);
      expect(body['errors']).toMatchObject([{ field: 'points_per_day' }]);
    }
    const most = { points_per_period: 2 ** 53 - 1 };
    expect((await member.browser.request('PUT', own(application), most)).body).toMatchObject(most);
  });
});

describe("a member's budget", () => {
  test('is set, changed and removed by the manager, who sees the member’s applications', async () => {
    const figures = { points_per_period: null, points_per_day: 40 };
    const set = await manager.browser.request('PUT', ofMember(member), figures);
    expect([set.status, set.body]).toEqual([200, { ...figures, spent: UNSPENT }]);
    await manager.browser.request('PUT', managed(application), { points_per_day: 4 });
    const seen = await manager.browser.request('GET', ofMember(member));
    expect(seen.body).toEqual({
      ...figures,
      spent: UNSPENT,
      applications: [
        {
          application_id: application.application_id,
          name: 'App',
          ...NONE,
          manager_points_per_period: null,
          manager_points_per_day: 4,
        },
      ],
    });
    await manager.browser.request('PUT', ofMember(member), {});
    expect(await suite.database('member_budgets').where({ account_id: member.account_id })).toEqual([]);
    const entries = await audited(member.account_id, 'member_budget_changed');
    expect(entries.map(({ details }) => details['points_per_day'])).toEqual([40, null]);
  });

  test('is set by the manager of that team only, and the manager has none', async () => {
    const stranger = await newOwner(suite);
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? { points_per_day: 1 } : undefined;
      const status = async ({ browser }: Owner, whose: Owner) =>
        (await browser.request(method, ofMember(whose), body)).status;
      expect(await status(member, member)).toBe(403);
      expect(await status(stranger, member)).toBe(404);
      expect(await status(manager, stranger)).toBe(404);
      expect(await status(manager, manager)).toBe(404);
    }
    await makeTeam(stranger);
    expect((await stranger.browser.request('PUT', ofMember(member), { points_per_day: 1 })).status).toBe(404);
  });

  test('is set by operators for members of any team, and only for members', async () => {
    const path = ({ account_id }: Owner) => `/private/members/${String(account_id)}/budget`;
    const { status, body } = await operatePath(suite.account, 'PUT', path(member), { points_per_period: 9 });
    expect([status, body]).toEqual([200, { points_per_period: 9, points_per_day: null, spent: UNSPENT }]);
    expect((await operatePath(suite.account, 'GET', path(member))).body).toEqual(body);
    for (const method of ['GET', 'PUT']) {
      const wanted = method === 'PUT' ? {} : undefined;
      expect((await operatePath(suite.account, method, path(manager), wanted)).status).toBe(404);
    }
  });

  test('counts everything of the member that the payer pays', async () => {
    const use = { payer_id: manager.account_id, account_id: member.account_id, period_id };
    await appendBatch(suite.store, [
      usageEvent({ ...use, points: 7, application_id: application.application_id }),
      usageEvent({ ...use, points: 5, application_id: 0 }),
      usageEvent({ ...use, points: 100, account_id: manager.account_id }),
    ]);
    await allCounted(suite);
    const seen = await manager.browser.request('GET', ofMember(member));
    expect(seen.body).toMatchObject({ spent: { points_in_period: 12, points_today: 12 } });
  });

  test('is on the team page: everyone’s for the manager, their own for members', async () => {
    const other = await newOwner(suite);
    await joinTeam(manager, other);
    expect((await member.browser.request('GET', '/team')).body).toMatchObject({ budget: null });
    await manager.browser.request('PUT', ofMember(member), { points_per_day: 40 });
    const use = { payer_id: manager.account_id, account_id: member.account_id, period_id };
    await appendBatch(suite.store, [
      usageEvent({ ...use, points: 7, at_ms: Date.now() - 2 * 86_400_000 }),
      usageEvent({ ...use, points: 5 }),
    ]);
    await allCounted(suite);
    const budget = {
      points_per_period: null,
      points_per_day: 40,
      spent: { points_in_period: 12, points_today: 5 },
    };
    expect((await member.browser.request('GET', '/team')).body).toMatchObject({ budget });
    expect((await other.browser.request('GET', '/team')).body).toMatchObject({ budget: null });
    const { body } = await manager.browser.request('GET', '/team');
    const members = body['members'] as { account_id: number; budget: unknown }[];
    expect(new Map(members.map((one) => [one.account_id, one.budget]))).toEqual(
      new Map([
        [manager.account_id, null],
        [member.account_id, budget],
        [other.account_id, null],
      ]),
    );
  });

  test('is listed for operators with those of applications: of one account, or of a team', async () => {
    const { application_id } = application;
    const managers = await makeOwnApplication(manager.browser);
    await manager.browser.request('PUT', ofMember(member), { points_per_day: 40 });
    await manager.browser.request('PUT', managed(application), { points_per_day: 4 });
    await manager.browser.request('PUT', own(managers), { points_per_period: 9 });
    const none = { ...NONE, manager_points_per_period: null, manager_points_per_day: null };
    const members = [
      { ...none, account_id: member.account_id, application_id: null, points_per_day: 40 },
      { ...none, account_id: member.account_id, application_id, name: 'App', manager_points_per_day: 4 },
    ];
    const listed = async (path: string) => (await operatePath(suite.account, 'GET', path)).body['budgets'];
    expect(await listed(`/private/accounts/${String(member.account_id)}/budgets`)).toMatchObject(members);
    const { team_id } = (await manager.browser.request('GET', '/team')).body as { team_id: number };
    expect(await listed(`/private/teams/${String(team_id)}/budgets`)).toMatchObject([
      {
        ...none,
        account_id: manager.account_id,
        application_id: managers.application_id,
        points_per_period: 9,
      },
      ...members,
    ]);
    for (const path of ['/private/accounts/999999999/budgets', '/private/teams/999999999/budgets'])
      expect((await operatePath(suite.account, 'GET', path)).status).toBe(404);
  });

  test('ends with the membership', async () => {
    await manager.browser.request('PUT', ofMember(member), { points_per_day: 40 });
    await manager.browser.request('PUT', managed(application), { points_per_day: 4 });
    await member.browser.request('POST', '/team/leave');
    expect((await member.browser.request('GET', own(application))).body).toMatchObject({
      manager_points_per_day: null,
      spent: { points_in_period: null, points_today: 0 },
    });
    await joinTeam(manager, member);
    expect((await manager.browser.request('GET', ofMember(member))).body).toMatchObject(NONE);
  });
});
