import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { waitFor } from '@tollgate/stack/wait-for';
import { done, periodsOf, makePublicPlan, order, previewFor, shownTo } from '../../test/suite/billing.ts';
import { newOwner } from '../../test/suite/console.ts';
import type { Owner } from '../../test/suite/console.ts';
import { raceAtRow } from '../../test/suite/database/held-row.ts';
import { operatorCredentials } from '../../test/suite/operator.ts';
import { signedInBrowser, startPeople } from '../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { makeTeam } from '../../test/suite/team.ts';

/** Two tabs, two replicas, and the renewals: the database decides. */

const ROUNDS = 3;

let suite: PeopleUnderTest;
let replica: ServiceProcess;
let small: number;
let large: number;

beforeAll(async () => {
  suite = await startPeople({
    OPERATOR_CREDENTIALS: operatorCredentials,
    SELF_SERVICE: 'subscribe change cancel slots',
  });
  replica = await startServiceProcess('account', suite.settings);
  await becomeReady(replica);
  small = await makePublicPlan(
    suite.account,
    { points_limit: 1, team_slots_limit: 2 },
    { team_slots_max: 9 },
  );
  large = await makePublicPlan(
    suite.account,
    { points_limit: 2, team_slots_limit: 2 },
    { team_slots_max: 9 },
  );
});

afterAll(async () => {
  await replica.stop();
  await suite.close();
});

/** A second tab, at the other replica. */
async function inTwoTabs(): Promise<[Owner, Owner]> {
  const owner = await newOwner(suite);
  return [owner, { ...owner, browser: await signedInBrowser(replica, owner) }];
}

type Answered = { status: number; body: Record<string, unknown> };

const codes = (answers: readonly Answered[]) =>
  answers
    .map(({ status, body }) => (status < 300 ? status : String(body['code'])))
    .map(String)
    .toSorted();

test('two tabs subscribe at once: one subscription, one period', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const tabs = await inTwoTabs();
    const { account_id } = tabs[0];
    const wanted = (plan_id: number) => ({ plan_id, billing_interval: 'month', period_id: null });
    const row = { table: 'accounts', where: { account_id }, waiting: 2 } as const;
    const answers = await raceAtRow(suite.database, row, () =>
      tabs.map(({ browser }, tab) =>
        browser.request('POST', '/subscription', wanted(tab === 0 ? small : large)),
      ),
    );
    expect(codes(answers)).toEqual(['201', 'subscription_exists']);
    expect(await periodsOf(suite.account, account_id)).toHaveLength(1);
  }
});

test('two tabs upgrade now at once: one change', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const tabs = await inTwoTabs();
    const { account_id } = tabs[0];
    await order(tabs[0], small);
    const { period_id } = await previewFor(tabs[0], large);
    const wanted = { plan_id: large, billing_interval: 'month', effective: 'now', period_id };
    const row = { table: 'accounts', where: { account_id }, waiting: 2 } as const;
    const answers = await raceAtRow(suite.database, row, () =>
      tabs.map(({ browser }) => browser.request('POST', '/subscription/change-plan', wanted)),
    );
    expect(codes(answers)).toEqual(['200', 'plan_change_not_immediate']);
    expect(await periodsOf(suite.account, account_id)).toMatchObject([{ period_id, plan_id: large }]);
  }
});

test('changes while renewals open the next period: no gap, no overlap, the planned plan', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [owner] = await inTwoTabs();
    const { account_id } = owner;
    await order(owner, small);
    const soon = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 300_000);
    const plans = [large, small, large, small, large];
    await suite.database.transaction(async (inside) => {
      await inside('subscriptions').where({ account_id }).forUpdate().select();
      await inside('billing_periods')
        .where({ account_id })
        .update({ ended_at: new Date(+soon - 1_000) });
      await inside('subscriptions').where({ account_id }).update({ renews_at: soon });
    });
    for (const plan of plans) {
      expect((await order(owner, plan, { effective: 'period_end' })).status).toBe(200);
    }
    await waitFor(async () => (await periodsOf(suite.account, account_id)).length === 2, {
      what: 'the next period',
    });
    const [current, next] = await periodsOf(suite.account, account_id);
    expect([current?.plan_id, next?.plan_id]).toEqual([small, large]);
    expect(Date.parse(next?.started_at ?? '') - Date.parse(current?.ended_at ?? '')).toBe(1_000);
    expect((await shownTo(owner)).subscription).toMatchObject({ next_period_at: next?.started_at });
  }
});

test('slots are released while invitations take them: never more taken than there are', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const tabs = await inTwoTabs();
    const [owner, other] = tabs;
    await order(owner, small);
    const set = (team_slots_limit: number) =>
      owner.browser.request('PUT', '/subscription/team-slots', { team_slots_limit });
    await set(3);
    const team_id = await makeTeam(owner);
    const invite = (name: string) =>
      other.browser.request('POST', '/team/invitations', { email: `${name}.${String(team_id)}@example.com` });
    expect((await invite('first')).status).toBe(201);
    const row = { table: 'teams', where: { team_id }, waiting: 2 } as const;
    const answers = await raceAtRow(suite.database, row, () => [set(2), invite('second')]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    const { team_slots } = await shownTo(owner);
    expect(Number(team_slots?.['used'])).toBeLessThanOrEqual(Number(team_slots?.['limit']));
  }
});

test('a plan is taken from the catalogue while it is bought: bought before, or refused', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const plan = await makePublicPlan(suite.account, { points_limit: 1 });
    const [owner] = await inTwoTabs();
    const [bought] = await Promise.all([
      order(owner, plan),
      done(suite.account, 'POST', `/private/plans/${String(plan)}/unpublish`),
    ]);
    expect(codes([bought])[0]).toMatch(/^201$|^plan_not_offered$/);
    expect((await shownTo(owner)).subscription === null).toBe(bought.status !== 201);
  }
});
