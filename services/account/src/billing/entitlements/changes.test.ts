import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createDatabase } from '@tollgate/testbed/database';
import type { Database } from '@tollgate/testbed/database';
import { openSuiteDatabase } from '../../../test/suite/account-under-test.ts';
import {
  insertAccount,
  insertApplication,
  insertPeriod,
  insertTeam,
  secondsFromNow,
} from '../../../test/suite/database/records.ts';

/** Without a publisher, so that the rows that the triggers write stay. */
let home: Database;
let database: Knex;

beforeAll(async () => {
  home = await createDatabase();
  database = openSuiteDatabase(home.url);
});

afterAll(async () => {
  await database.destroy();
  await home.drop();
});

beforeEach(async () => {
  await database('entitlement_outbox').delete();
});

const accounts = (count: number) =>
  Promise.all(Array.from({ length: count }, () => insertAccount(database))) as Promise<
    [number, number, number, ...number[]]
  >;

async function changed(): Promise<number[]> {
  return database('entitlement_outbox').orderBy('account_id').pluck<number[]>('account_id');
}

async function changedBy(change: (connection: Knex) => PromiseLike<unknown>): Promise<number[]> {
  await database('entitlement_outbox').delete();
  await change(database);
  return changed();
}

const sorted = (...ids: number[]) => ids.toSorted((one, other) => one - other);

describe('a changed entitlement is written down', () => {
  test('for a billing period that is added, changed, blocked, unblocked, moved and removed', async () => {
    const [owner, other] = await accounts(2);
    expect(await changedBy(() => insertPeriod(database, owner))).toEqual([owner]);
    const period = () => database('billing_periods').where({ account_id: owner });
    for (const change of [
      { description: { points_limit: 5 } },
      { blocked_at: new Date() },
      { blocked_at: null },
      { ended_at: secondsFromNow(3_600) },
      { grace_sec: 0 },
    ]) {
      expect(await changedBy(() => period().update(change))).toEqual([owner]);
    }
    expect(await changedBy(() => period().update({ account_id: other }))).toEqual(sorted(owner, other));
    const removed = () => database('billing_periods').where({ account_id: other }).delete();
    expect(await changedBy(removed)).toEqual([other]);
  });

  test('for an account that is blocked, unblocked and removed, not for one that only gets another name', async () => {
    const [one, other] = await accounts(2);
    const both = () => database('accounts').whereIn('account_id', [one, other]);
    const blocked_at = new Date();
    expect(await changedBy(() => both().where({ account_id: one }).update({ blocked_at }))).toEqual([one]);
    expect(await changedBy(() => both().update({ blocked_at }))).toEqual([other]);
    expect(await changedBy(() => both().update({ blocked_at: null }))).toEqual(sorted(one, other));
    expect(await changedBy(() => both().update({ name: 'Someone else' }))).toEqual([]);
    expect(await changedBy(() => both().delete())).toEqual(sorted(one, other));
  });

  test('for a member that joins, moves and leaves', async () => {
    const [manager, member, otherManager] = await accounts(3);
    await insertTeam(database, manager);
    await insertTeam(database, otherManager);
    const teamOf = (account_id: number) => database('team_members').where({ account_id }).select('team_id');
    const join = () =>
      database('team_members').insert({ account_id: member, team_id: teamOf(manager), role: 'member' });
    const membership = () => database('team_members').where({ account_id: member });
    expect(await changedBy(join)).toEqual([member]);
    expect(await changedBy(() => membership().update({ team_id: teamOf(otherManager) }))).toEqual([member]);
    expect(await changedBy(() => membership().delete())).toEqual([member]);
  });

  test('for all who are in a team when its manager comes, goes or changes, and when the team ends', async () => {
    const [manager, member, successor] = await accounts(3);
    const all = sorted(manager, member, successor);
    expect(await changedBy(() => insertTeam(database, manager, member, successor))).toEqual(all);
    const row = (account_id: number) => database('team_members').where({ account_id });
    const step = await row(manager).first<{ team_id: number }>();
    expect(await changedBy(() => row(manager).update({ role: 'member' }))).toEqual(all);
    expect(await changedBy(() => row(successor).update({ role: 'manager' }))).toEqual(all);
    expect(await changedBy(() => row(successor).delete())).toEqual(all);
    const back = { account_id: successor, team_id: step.team_id, role: 'manager' };
    expect(await changedBy(() => database('team_members').insert(back))).toEqual(all);
    expect(await changedBy(() => database('teams').where({ team_id: step.team_id }).delete())).toEqual(all);
  });

  test("for a budget of a member or of an account's application that is set, changed and removed", async () => {
    const [manager, member] = await accounts(2);
    await insertTeam(database, manager, member);
    const { application_id } = await insertApplication(database, member);
    const figures = { points_per_day: 5 };
    const ofMember = () => database('member_budgets').where({ account_id: member });
    expect(await changedBy(() => ofMember().insert({ account_id: member, ...figures }))).toEqual([member]);
    expect(await changedBy(() => ofMember().update({ points_per_day: 6 }))).toEqual([member]);
    expect(await changedBy(() => ofMember().delete())).toEqual([member]);
    const ofApplication = () => database('application_budgets').where({ application_id });
    expect(await changedBy(() => ofApplication().insert({ application_id, ...figures }))).toEqual([member]);
    expect(await changedBy(() => ofApplication().update({ points_per_day: 6 }))).toEqual([member]);
    const deleted = { status: 'deleted' };
    expect(await changedBy(() => database('applications').where({ application_id }).update(deleted))).toEqual(
      [member],
    );
    expect(await ofApplication()).toEqual([]);
  });

  test('by any statement: a CTE, an upsert, a copy from another table', async () => {
    const [one, other] = await accounts(2);
    const plan = await insertPeriod(database, one);
    const copy = `INSERT INTO billing_periods
        (account_id, plan_id, plan_name, description, grace_sec, started_at, ended_at)
      SELECT :other, plan_id, plan_name, description, grace_sec, started_at, ended_at
      FROM billing_periods WHERE period_id = :plan`;
    expect(await changedBy(() => database.raw(copy, { other, plan }))).toEqual([other]);
    const cte = `WITH blocked AS (UPDATE accounts SET blocked_at = now() WHERE account_id = :one RETURNING 1)
      UPDATE billing_periods SET blocked_at = now() WHERE account_id = :other`;
    expect(await changedBy(() => database.raw(cte, { one, other }))).toEqual(sorted(one, other));
    const upsert = `INSERT INTO team_members (account_id, team_id, role)
      SELECT :one, team_id, 'manager' FROM teams ORDER BY team_id DESC LIMIT 1
      ON CONFLICT (account_id) DO UPDATE SET joined_at = now()`;
    await database('teams').insert({ name: 'Team' });
    expect(await changedBy(() => database.raw(upsert, { one }))).toEqual([one]);
    expect(await changedBy(() => database.raw(upsert, { one }))).toEqual([one]);
  });

  test('once for each account, however many of its rows one statement changes', async () => {
    const [one, other] = await accounts(2);
    for (const days of [0, 20, 40]) {
      const [started_at, ended_at] = [secondsFromNow(days * 86_400), secondsFromNow((days + 10) * 86_400)];
      await insertPeriod(database, one, { started_at, ended_at });
      await insertPeriod(database, other, { started_at, ended_at });
    }
    expect(await changedBy(() => database('billing_periods').update({ grace_sec: 5 }))).toEqual(
      expect.arrayContaining([one, other]),
    );
    expect((await changed()).filter((id) => id === one || id === other)).toHaveLength(2);
  });

  test('with the change or not at all: one that is rolled back leaves nothing', async () => {
    const [one] = await accounts(1);
    const failing = database.transaction(async (transaction) => {
      await insertPeriod(transaction, one);
      expect(await transaction('entitlement_outbox').select()).toHaveLength(1);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await changed()).toEqual([]);
  });

  test('not by a statement that changes no row', async () => {
    const change = () => database('billing_periods').where({ period_id: -1 }).update({ blocked_at: null });
    expect(await changedBy(change)).toEqual([]);
  });
});
