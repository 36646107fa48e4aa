import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { periodAt } from '../periods/calendar.ts';
import { age, done, makePlan, periodsOf, subscribe } from '../../../test/suite/billing.ts';
import type { MadeSubscription } from '../../../test/suite/billing.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';

let suite: OperatedAccount;
let plan: number;

beforeAll(async () => {
  suite = await startOperatedAccount();
  plan = await makePlan(suite.account);
});

afterAll(async () => {
  await suite.close();
});

const buyMany = async (count: number) => {
  const made: MadeSubscription[] = [];
  for (let bought = 0; bought < count; bought += 1) made.push(await subscribe(suite.account, plan));
  return made;
};

const idsOf = (made: readonly MadeSubscription[]) => made.map(({ subscription_id }) => subscription_id);

/** How many periods each of the subscriptions has. */
async function counts(made: readonly MadeSubscription[]): Promise<number[]> {
  const rows = await suite
    .database('billing_periods')
    .whereIn('subscription_id', idsOf(made))
    .groupBy('subscription_id')
    .select<{ opened: number }[]>(suite.database.raw('count(*) AS opened'));
  return rows.map(({ opened }) => opened);
}

const renewed = (made: readonly MadeSubscription[]) =>
  waitFor(async () => (await counts(made)).every((opened) => opened >= 2));

/** The audit entry is the last statement: with its table locked, all work is done and not committed. */
async function holdAuditLog(): Promise<() => Promise<unknown>> {
  const gate = await suite.database.transaction();
  await gate.raw('LOCK TABLE audit_log IN EXCLUSIVE MODE');
  return () => gate.commit();
}

async function heldUp(): Promise<number> {
  const { rows } = await suite.database.raw<{ rows: unknown[] }>(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO audit_log%'`,
  );
  return rows.length;
}

describe('of any number of replicas', () => {
  test('exactly one renews each subscription, also when one is killed with periods half opened', async () => {
    const replica = await suite.startReplica();
    const made = await buyMany(12);
    const release = await holdAuditLog();
    await age(suite.database, idsOf(made), 40);
    await waitFor(async () => (await heldUp()) === 2);
    await replica.kill();
    await release();
    await renewed(made);
    expect(await counts(made)).toEqual(made.map(() => 2));
    const log = await suite.database('audit_log').where({ action: 'subscription_renewed' });
    expect(log).toHaveLength(made.length);

    // And once more with both alive, every one due at the same moment.
    await replica.restart();
    const others = await buyMany(20);
    await age(suite.database, idsOf(others), 40);
    await renewed(others);
    expect(await counts(others)).toEqual(others.map(() => 2));
    await replica.stop();
  });
});

test('after a standstill the period is the one that covers the present, none in between are made up', async () => {
  const [made] = await buyMany(1);
  if (made === undefined) throw new Error('nothing bought');
  await age(suite.database, [made.subscription_id], 200);
  await renewed([made]);
  const [first, current, ...others] = await periodsOf(suite.account, made.account_id);
  const anchor = new Date(first?.started_at ?? '');
  const expected = periodAt(anchor, 'month', new Date());
  expect([current?.started_at, current?.ended_at].map((text) => new Date(text ?? ''))).toEqual([
    expected.started_at,
    expected.ended_at,
  ]);
  // Less than the lead may be left of it.
  expect(others.every(({ status }) => status === null)).toBe(true);
});

test('a renewal that fails holds up no other, and is told of', async () => {
  const [stuck, fine] = await buyMany(2);
  if (stuck === undefined || fine === undefined) throw new Error('nothing bought');
  // No endpoint creates a period there; SQL by hand can.
  const day = (days: number) => new Date((Math.floor(Date.now() / 1_000) + days * 86_400) * 1_000);
  await suite
    .database('subscriptions')
    .where(idOf(stuck))
    .update({ next_attempt_at: day(1) });
  await age(suite.database, idsOf([stuck, fine]), 40);
  await suite.database('billing_periods').insert({
    account_id: stuck.account_id,
    plan_id: plan,
    plan_name: 'By hand',
    description: '{}',
    grace_sec: 0,
    started_at: day(-1),
    ended_at: day(1),
  });
  await suite
    .database('subscriptions')
    .where(idOf(stuck))
    .update({ next_attempt_at: day(-1) });
  await waitFor(() => suite.account.logs().includes('a subscription could not be renewed'));
  await renewed([fine]);
  expect((await counts([stuck])).at(0)).toBe(1);
  // Overdue ones are counted when a turn of the loop begins, which may have been before they were.
  await waitFor(async () => {
    const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
    const told = /^tollgate_subscription_renewal_failures_total\{.*\} [1-9]/m.test(metrics);
    return told && /^tollgate_subscriptions_overdue\{.*\} [1-9]/m.test(metrics);
  });
});

const idOf = ({ subscription_id }: MadeSubscription) => ({ subscription_id });

describe('at the same moment', () => {
  /** Posts to each while the first renewal has opened its period and not committed, and the others are due. */
  async function amidRenewals(
    made: readonly MadeSubscription[],
    post: (one: MadeSubscription) => [string, unknown?],
  ) {
    const release = await holdAuditLog();
    await age(suite.database, idsOf(made), 40);
    await waitFor(async () => (await heldUp()) === 1);
    const answers = made.map((one) => operatePath(suite.account, 'POST', ...post(one)));
    await waitFor(async () => (await heldUp()) > 1);
    await release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual(made.map(() => 200));
  }

  test('a change of plan and a renewal leave one period that covers the present, of the new plan', async () => {
    const other = await makePlan(suite.account, { description: { points_limit: 7 } });
    const made = await buyMany(8);
    await amidRenewals(made, ({ path }) => [`${path}/change-plan`, { plan_id: other, effective: 'now' }]);
    for (const { account_id } of made) {
      await waitFor(async () => {
        const periods = await periodsOf(suite.account, account_id);
        const active = periods.filter(({ status }) => status === 'active');
        return active.length === 1 && active[0]?.plan_id === other;
      });
    }
  });

  test('a block and a renewal leave either a blocked last period or one that the block came too late for', async () => {
    const made = await buyMany(8);
    const first = new Map<number, number>();
    for (const { account_id } of made) {
      const [period] = await periodsOf(suite.account, account_id);
      first.set(account_id, period?.period_id ?? 0);
    }
    await amidRenewals(made, ({ account_id }) => [`/private/periods/${String(first.get(account_id))}/block`]);
    for (const [index, { account_id, subscription_id }] of made.entries()) {
      const block = await suite
        .database('audit_log')
        .where({ account_id, action: 'period_blocked' })
        .first<{ audit_id: number }>();
      const renewal = await suite
        .database('audit_log')
        .where({ account_id, action: 'subscription_renewed' })
        .first<{ audit_id: number } | undefined>();
      const [opened] = await counts([{ subscription_id } as MadeSubscription]);
      expect([index, opened]).toEqual([index, renewal === undefined ? 1 : 2]);
      if (renewal !== undefined) expect(renewal.audit_id).toBeLessThan(block.audit_id);
    }
  });

  test('a cancellation and a renewal leave no period that covers the present', async () => {
    const made = await buyMany(8);
    await amidRenewals(made, ({ path }) => [`${path}/cancel`, { effective: 'now' }]);
    for (const { account_id, path } of made) {
      expect(await done(suite.account, 'GET', path)).toMatchObject({ status: 'ended' });
      const periods = await periodsOf(suite.account, account_id);
      expect(
        periods.filter(
          ({ status, ended_at }) => status === null || Date.parse(ended_at) > Date.now() + 2_000,
        ),
      ).toEqual([]);
    }
  });
});
