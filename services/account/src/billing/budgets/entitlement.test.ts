import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Budgets } from '@tollgate/contracts/entitlement';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  insertTeam,
} from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

async function budgetsOf(accountId: number): Promise<Budgets | undefined> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(accountId)}`);
  const entitlement = entitlementSchema.strict().parse(await response.json());
  expect(entitlement.billing_period).not.toBeNull();
  return entitlement.billing_period?.budgets;
}

async function newTeam() {
  const [manager, member] = [await insertAccount(suite.database), await insertAccount(suite.database)];
  await insertTeam(suite.database, manager, member);
  await insertPeriod(suite.database, manager);
  return { manager, member };
}

test('names the budgets of the account and of its applications, and no others', async () => {
  const { manager, member } = await newTeam();
  expect(await budgetsOf(member)).toBeUndefined();
  const first = await insertApplication(suite.database, member);
  const second = await insertApplication(suite.database, member);
  await insertApplication(suite.database, member);
  await suite.database('application_budgets').insert([
    { application_id: second.application_id, points_per_day: 0 },
    { application_id: first.application_id, points_per_period: 500, points_per_day: 50 },
  ]);
  const applications = [
    { application_id: first.application_id, points_per_period: 500, points_per_day: 50 },
    { application_id: second.application_id, points_per_period: null, points_per_day: 0 },
  ];
  expect(await budgetsOf(member)).toEqual({ applications });
  await suite.database('member_budgets').insert({ account_id: member, points_per_period: 7 });
  expect(await budgetsOf(member)).toEqual({
    member: { points_per_period: 7, points_per_day: null },
    applications,
  });
  expect(await budgetsOf(manager)).toBeUndefined();
});

test("of the owner's and the manager's figure for an application, the lower one holds in each window", async () => {
  const { member } = await newTeam();
  const { application_id } = await insertApplication(suite.database, member);
  const figures = { points_per_period: 100, points_per_day: 10 };
  await suite.database('application_budgets').insert({ application_id, ...figures });
  const manager = { manager_points_per_period: 99, manager_points_per_day: 11 };
  await suite.database('application_budgets').where({ application_id }).update(manager);
  const lower = { application_id, points_per_period: 99, points_per_day: 10 };
  expect(await budgetsOf(member)).toEqual({ applications: [lower] });
  await suite.database('application_budgets').where({ application_id }).update({ points_per_period: null });
  expect(await budgetsOf(member)).toEqual({ applications: [lower] });
});

test('what a manager has set ends with the membership; what the owner has set stays', async () => {
  const { member } = await newTeam();
  const kept = await insertApplication(suite.database, member);
  const managed = await insertApplication(suite.database, member);
  await suite.database('member_budgets').insert({ account_id: member, points_per_day: 7 });
  await suite.database('application_budgets').insert([
    { application_id: kept.application_id, points_per_period: 500, manager_points_per_period: 5 },
    { application_id: managed.application_id, manager_points_per_day: 5 },
  ]);
  await insertPeriod(suite.database, member);
  await suite.database('team_members').where({ account_id: member }).delete();
  expect(await budgetsOf(member)).toEqual({
    applications: [{ application_id: kept.application_id, points_per_period: 500, points_per_day: null }],
  });
});

test('who becomes the manager has no budget any more, and who moves to another team has none of the former', async () => {
  const { manager, member } = await newTeam();
  const other = await newTeam();
  for (const account_id of [member, other.member])
    await suite.database('member_budgets').insert({ account_id, points_per_day: 7 });
  const row = (account_id: number) => suite.database('team_members').where({ account_id });
  await row(manager).update({ role: 'member' });
  await row(member).update({ role: 'manager' });
  await row(other.member).update({ team_id: row(manager).select('team_id') });
  expect(await suite.database('member_budgets').whereIn('account_id', [member, other.member])).toEqual([]);
});

test('a deleted application has no budget', async () => {
  const { member } = await newTeam();
  const { application_id } = await insertApplication(suite.database, member);
  await suite.database('application_budgets').insert({ application_id, points_per_day: 7 });
  await suite.database('applications').where({ application_id }).update({ status: 'revoked' });
  expect(await budgetsOf(member)).toBeDefined();
  await suite.database('applications').where({ application_id }).update({ status: 'deleted' });
  expect(await budgetsOf(member)).toBeUndefined();
});

test('a row that limits nothing, or a figure below 0 or beyond what JSON can state, is refused', async () => {
  const { member } = await newTeam();
  const { application_id } = await insertApplication(suite.database, member);
  await expect(suite.database('application_budgets').insert({ application_id })).rejects.toThrow('_limit');
  await expect(suite.database('member_budgets').insert({ account_id: member })).rejects.toThrow('_limit');
  for (const points_per_day of ['-1', String(2n ** 53n)]) {
    const refused = suite.database('member_budgets').insert({ account_id: member, points_per_day });
    await expect(refused).rejects.toThrow('points_per_day_check');
  }
});
