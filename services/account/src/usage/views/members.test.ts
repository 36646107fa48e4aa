import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newOwner } from '../../../test/suite/console.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';
import {
  FOUR_DAYS,
  THIRD_DAY_NOON,
  dayAgo,
  insertCoveringPeriod,
  shownUsage,
} from '../../../test/suite/usage/usage-views.ts';

/** Usage by member: who in a team sees whose. */

let suite: PeopleUnderTest;
/** What no test changes. */
let team: Awaited<ReturnType<typeof newTeam>>;

beforeAll(async () => {
  suite = await startPeople({ OPERATOR_CREDENTIALS: operatorCredentials });
  team = await newTeam();
});

afterAll(async () => {
  await suite.close();
});

/** A manager with a member and one who has left; each has called on the manager's plan. */
async function newTeam() {
  const [manager, member, former] = [await newOwner(suite), await newOwner(suite), await newOwner(suite)];
  const period_id = await insertCoveringPeriod(suite, manager);
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
      at: THIRD_DAY_NOON,
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
    const shown = await shownUsage(manager, `${FOUR_DAYS}&group_by=member`);
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
    const one = await shownUsage(manager, `${FOUR_DAYS}&account_id=${String(former.account_id)}`);
    expect(one.usage.points_usage).toBe(4);
    expect((await shownUsage(manager, `${FOUR_DAYS}&view=own`)).usage.points_usage).toBe(1);
  });

  test('a member sees its own usage and nobody else’s', async () => {
    const { manager, member } = team;
    const shown = await shownUsage(member, `${FOUR_DAYS}&group_by=member`);
    expect([shown.view, shown.payer_id]).toEqual(['own', manager.account_id]);
    expect(shown.groups).toMatchObject([{ account_id: member.account_id, usage: { points_usage: 2 } }]);
    expect(JSON.stringify(shown)).not.toContain(manager.email);
    const refused = await member.browser.request(
      'GET',
      `/usage?${FOUR_DAYS}&account_id=${String(manager.account_id)}`,
    );
    expect([refused.status, refused.body['code']]).toEqual([403, 'forbidden']);
    const itself = await shownUsage(member, `${FOUR_DAYS}&account_id=${String(member.account_id)}`);
    expect(itself.usage.points_usage).toBe(2);
    // On its own plan nobody has called: whoever pays for it, not who is in the team, decides.
    for (const filter of [
      '',
      `&account_id=${String(manager.account_id)}`,
      `&application_id=${String(1_000_000 + manager.account_id)}`,
    ]) {
      const billed = await shownUsage(member, `${FOUR_DAYS}&view=billed&group_by=member${filter}`);
      expect([billed.usage.points_usage, billed.groups]).toEqual([0, []]);
    }
  });

  test('who has left sees what it has used there as its own, and nothing of it on its plan', async () => {
    const { former } = team;
    const shown = await shownUsage(former, FOUR_DAYS);
    expect([shown.view, shown.payer_id, shown.usage.points_usage]).toEqual(['billed', former.account_id, 0]);
    expect((await shownUsage(former, `${FOUR_DAYS}&view=own`)).usage.points_usage).toBe(4);
  });

  test('who has handed the team over still sees what its plan has paid for', async () => {
    const { manager, member } = await newTeam();
    const { account_id } = member;
    expect((await manager.browser.request('POST', '/team/hand-over', { account_id })).status).toBe(200);
    expect((await shownUsage(manager, FOUR_DAYS)).usage.points_usage).toBe(1);
    expect((await shownUsage(manager, `${FOUR_DAYS}&view=billed`)).usage.points_usage).toBe(7);
    expect((await shownUsage(member, FOUR_DAYS)).usage.points_usage).toBe(0);
  });

  test('an operator sees all addresses', async () => {
    const { manager, former } = team;
    const path = `/private/accounts/${String(manager.account_id)}/usage?${FOUR_DAYS}&group_by=member`;
    const { body } = await operatePath(suite.account, 'GET', path);
    expect((body['groups'] as unknown[])[0]).toMatchObject({ email: former.email, in_team: false });
  });
});
