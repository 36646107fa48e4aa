import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entitlementSchema } from '@tollgate/contracts/entitlement';
import { waitFor } from '@tollgate/stack/wait-for';
import { databaseNow } from '../../platform/database/clock.ts';
import { createTransact } from '../../platform/database/query.ts';
import { endPeriod } from '../period-changes/changes.ts';
import { periodStart, secondAfter } from '../periods/calendar.ts';
import { age, done, makeAccount, makePlan, periodsOf, subscribe } from '../../../test/suite/billing.ts';
import type { ShownPeriod } from '../../../test/suite/billing.ts';
import { secondsFromNow } from '../../../test/suite/database/records.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { createSubscription } from './changes.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { getPrivate } from '../../../test/suite/requests.ts';

let suite: OperatedAccount;
let plan: number;

beforeAll(async () => {
  suite = await startOperatedAccount();
  const description = { points_limit: 10, color: ['red', { deep: null }] };
  plan = await makePlan(suite.account, { description, grace_sec: 864_000 });
});

afterAll(async () => {
  await suite.close();
});

const call = (method: string, path: string, body?: unknown) => operatePath(suite.account, method, path, body);
const buy = (changes: Record<string, unknown> = {}) => subscribe(suite.account, plan, changes);
const periods = (accountId: number) => periodsOf(suite.account, accountId);

async function grown(accountId: number, count: number): Promise<ShownPeriod[]> {
  await waitFor(async () => (await periods(accountId)).length >= count);
  return periods(accountId);
}

async function entitlement(accountId: number) {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(accountId)}`);
  return entitlementSchema.parse(await response.json());
}

/** To the second. */
function text(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/** Seconds between two periods; the last second of the first, `ended_at`, belongs to it. */
function gapSec(before: ShownPeriod | undefined, after: ShownPeriod | undefined): number {
  return (Date.parse(after?.started_at ?? '') - Date.parse(before?.ended_at ?? '')) / 1_000 - 1;
}

describe('buying', () => {
  test('begins a period at once, with the plan’s raw attributes, that ends a second before the next', async () => {
    const { account_id, anchor } = await buy({ team_slots_limit: 7 });
    const [period, ...others] = await periods(account_id);
    expect(others).toEqual([]);
    expect(period).toMatchObject({
      plan_id: plan,
      status: 'active',
      started_at: anchor,
      team_slots_limit: 7,
      description: { points_limit: 10, color: ['red', { deep: null }] },
    });
    expect(secondAfter({ ended_at: new Date(period?.ended_at ?? '') })).toEqual(
      periodStart(new Date(anchor), 'month', 1),
    );
    expect((await entitlement(account_id)).billing_period?.limits).toMatchObject({
      points_limit: 10,
      team_slots_limit: 7,
    });
  });

  test('twice at once makes one subscription and one period', async () => {
    const account_id = await makeAccount(suite.account);
    const wanted = { account_id, plan_id: plan, billing_interval: 'year' };
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/private/subscriptions', wanted)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect(answers.map(({ body }) => body['code']).filter(Boolean)).toEqual([
      'subscription_exists',
      'subscription_exists',
    ]);
    expect(await periods(account_id)).toHaveLength(1);
  });

  test('right after a subscription that was bought and cancelled begins when its period has ended', async () => {
    const first = await buy();
    await done(suite.account, 'POST', `${first.path}/cancel`, { effective: 'now' });
    const { account_id } = first;
    const second = await buy({ account_id });
    const [ended, begun] = await periods(account_id);
    expect(gapSec(ended, begun)).toBeLessThan(1);
    expect(begun).toMatchObject({ started_at: second.anchor });
    expect(Date.parse(second.anchor) - Date.now()).toBeLessThan(2_000);
  });

  test('in place of a period that was ended a second ago, in the same transaction, leaves out none', async () => {
    const account_id = await makeAccount(suite.account);
    const { period_id } = await done<ShownPeriod>(suite.account, 'POST', '/private/periods', {
      account_id,
      plan_id: plan,
      started_at: text(secondsFromNow(-60)),
      ended_at: text(secondsFromNow(3_600)),
    });
    const by = { actor: 'operator:suite', address: 'none', request_id: 'none' } as const;
    await createTransact(suite.database)(async (query) => {
      const replacedAt = await databaseNow(query);
      await endPeriod(query, period_id, by);
      await waitFor(async () => (await databaseNow(query)) > replacedAt);
      const sold = { account_id, plan_id: plan, billing_interval: 'month' as const, team_slots_limit: null };
      await createSubscription(query, { ...sold, replacedAt }, by);
    });
    const [ended, begun] = await periods(account_id);
    expect(gapSec(ended, begun)).toBe(0);
  });

  test('is refused while a period that was made by hand lies in the way, and for what isn’t there', async () => {
    const account_id = await makeAccount(suite.account);
    const times = { started_at: '2099-01-01T00:00:00Z', ended_at: '2099-01-31T23:59:59Z' };
    await done(suite.account, 'POST', '/private/periods', { account_id, plan_id: plan, ...times });
    const wanted = { account_id, plan_id: plan, billing_interval: 'month' };
    expect((await call('POST', '/private/subscriptions', wanted)).body['code']).toBe('periods_overlap');
    const unknown = await call('POST', '/private/subscriptions', { ...wanted, account_id: 999_999 });
    expect([unknown.status, unknown.body['errors']]).toEqual([
      400,
      [{ field: 'account_id', message: 'there is no such account' }],
    ]);
    const faulty = await call('POST', '/private/subscriptions', { billing_interval: 'week', extra: 1 });
    expect((faulty.body['errors'] as { field: string }[]).map(({ field }) => field).toSorted()).toEqual([
      'account_id',
      'billing_interval',
      'extra',
      'plan_id',
    ]);
  });

  test('of an archived plan is refused; who has it keeps it', async () => {
    const archived = await makePlan(suite.account);
    const { account_id, subscription_id } = await subscribe(suite.account, archived);
    await done(suite.account, 'POST', `/private/plans/${String(archived)}/archive`);
    const wanted = { account_id: suite.account_id, plan_id: archived, billing_interval: 'month' };
    expect((await call('POST', '/private/subscriptions', wanted)).body['code']).toBe('plan_archived');
    await age(suite.database, [subscription_id], 32);
    expect((await grown(account_id, 2)).at(-1)).toMatchObject({ plan_id: archived, status: 'active' });
  });
});

describe('changing the plan', () => {
  test('now ends the period with the second before, and the rest of the month is the new plan’s', async () => {
    const other = await makePlan(suite.account, { description: { points_limit: 99 } });
    const { account_id, subscription_id, path } = await buy();
    await age(suite.database, [subscription_id], 3);
    const [before] = await periods(account_id);
    const answer = await done(suite.account, 'POST', `${path}/change-plan`, {
      plan_id: other,
      effective: 'now',
    });
    expect(answer).toMatchObject({ plan_id: other, status: 'active' });
    const [old, current, ...none] = await periods(account_id);
    expect(none).toEqual([]);
    expect(gapSec(old, current)).toBe(0);
    expect(current).toMatchObject({ plan_id: other, status: 'active', ended_at: before?.ended_at });
    expect([old?.grace_sec, old?.status]).toEqual([864_000, 'expired']);
    const { billing_period } = await entitlement(account_id);
    expect(billing_period).toMatchObject({ period_id: current?.period_id, limits: { points_limit: 99 } });
  });

  test('now, keeping the usage, continues the period, and keeps what it was sold as before', async () => {
    const description = { points_limit: 99, team_slots_limit: 2 };
    const other = await makePlan(suite.account, { description, grace_sec: 60 });
    const { account_id, subscription_id, path } = await buy({ team_slots_limit: 7 });
    await age(suite.database, [subscription_id], 3);
    const [before] = await periods(account_id);
    const keep = { plan_id: other, effective: 'now', usage: 'keep' };
    expect(await done(suite.account, 'POST', `${path}/change-plan`, keep)).toMatchObject({ plan_id: other });
    const [period, ...none] = await periods(account_id);
    expect(none).toEqual([]);
    const { name } = await suite.database('plans').where({ plan_id: other }).first<{ name: string }>();
    expect(period).toEqual({
      ...before,
      plan_id: other,
      plan_name: name,
      description,
      grace_sec: 60,
      created_at: expect.anything(),
    });
    const { billing_period } = await entitlement(account_id);
    expect(billing_period).toMatchObject({ period_id: before?.period_id, limits: { points_limit: 99 } });
    const period_id = before?.period_id;
    expect(await suite.database('period_plans').where({ period_id })).toMatchObject([
      { plan_id: plan, plan_name: before?.plan_name, description: before?.description, grace_sec: 864_000 },
    ]);
  });

  test('now, keeping the usage, alerts again by the new limit', async () => {
    const other = await makePlan(suite.account, { description: { points_limit: 1_000 } });
    const { account_id, path } = await buy();
    const [period] = await periods(account_id);
    const { period_id } = period ?? { period_id: 0 };
    const alert = { period_id, limit_name: 'points_limit', share: 80, used: 9, limit_value: 10 };
    await suite.database('usage_alerts').insert({ ...alert, account_id });
    await done(suite.account, 'POST', `${path}/change-plan`, {
      plan_id: other,
      effective: 'now',
      usage: 'keep',
    });
    await waitFor(async () => (await suite.database('usage_alerts').where({ period_id })).length === 0);
  });

  test('keeps no usage at the end of the period, nor over another interval', async () => {
    const { path } = await buy();
    for (const change of [{ effective: 'period_end' }, { effective: 'now', billing_interval: 'year' }]) {
      const { status, body } = await call('POST', `${path}/change-plan`, {
        plan_id: plan,
        usage: 'keep',
        ...change,
      });
      expect([status, (body['errors'] as { field: string }[]).map(({ field }) => field)]).toEqual([
        400,
        ['usage'],
      ]);
    }
  });

  test('now, with another interval, begins a whole one', async () => {
    const { account_id, subscription_id, path } = await buy();
    await age(suite.database, [subscription_id], 3);
    await done(suite.account, 'POST', `${path}/change-plan`, {
      plan_id: plan,
      billing_interval: 'year',
      effective: 'now',
    });
    const current = (await periods(account_id)).at(-1);
    const start = new Date(current?.started_at ?? '');
    expect(secondAfter({ ended_at: new Date(current?.ended_at ?? '') })).toEqual(
      periodStart(start, 'year', 1),
    );
  });

  test('at the period’s end leaves the period alone, and the next has the new plan', async () => {
    const other = await makePlan(suite.account, { description: { points_limit: 5 } });
    const { account_id, subscription_id, path } = await buy();
    const planned = { plan_id: other, effective: 'period_end' };
    expect(await done(suite.account, 'POST', `${path}/change-plan`, planned)).toMatchObject({
      plan_id: plan,
      pending_plan_id: other,
    });
    expect(await periods(account_id)).toHaveLength(1);
    await age(suite.database, [subscription_id], 32);
    const [old, current] = await grown(account_id, 2);
    expect([old?.plan_id, current?.plan_id]).toEqual([plan, other]);
    expect(await done(suite.account, 'GET', path)).toMatchObject({ plan_id: other, pending_plan_id: null });
  });

  test('to the plan that one has takes back what was planned', async () => {
    const other = await makePlan(suite.account);
    const { path } = await buy();
    await done(suite.account, 'POST', `${path}/change-plan`, { plan_id: other, effective: 'period_end' });
    expect(
      await done(suite.account, 'POST', `${path}/change-plan`, { plan_id: plan, effective: 'period_end' }),
    ).toMatchObject({ pending_plan_id: null, pending_interval: null });
  });

  test('is no way out of a block', async () => {
    const { account_id, subscription_id, path } = await buy();
    await age(suite.database, [subscription_id], 3);
    const [period] = await periods(account_id);
    await done(suite.account, 'POST', `/private/periods/${String(period?.period_id)}/block`);
    await done(suite.account, 'POST', `${path}/change-plan`, { plan_id: plan, effective: 'now' });
    expect((await entitlement(account_id)).status).toBe('blocked');
  });
});

describe('cancelling', () => {
  test('now ends the period without a grace window, and another subscription may begin', async () => {
    const { account_id, subscription_id, path } = await buy();
    await age(suite.database, [subscription_id], 3);
    expect(await done(suite.account, 'POST', `${path}/cancel`, { effective: 'now' })).toMatchObject({
      status: 'ended',
    });
    expect((await entitlement(account_id)).status).toBe('expired');
    expect((await call('POST', `${path}/resume`)).body['code']).toBe('subscription_ended');
    await buy({ account_id });
    expect((await entitlement(account_id)).status).toBe('active');
  });

  test('at the period’s end lets it run out, grace window and all, and can be taken back until then', async () => {
    const [ending, resumed] = [await buy(), await buy()];
    for (const { path } of [ending, resumed]) {
      await done(suite.account, 'POST', `${path}/cancel`, { effective: 'period_end' });
    }
    await done(suite.account, 'POST', `${resumed.path}/resume`);
    await age(suite.database, [ending.subscription_id, resumed.subscription_id], 32);
    expect(await grown(resumed.account_id, 2)).toHaveLength(2);
    await waitFor(
      async () => (await done<{ status: string }>(suite.account, 'GET', ending.path)).status === 'ended',
    );
    const [last, ...others] = await periods(ending.account_id);
    expect([last?.status, others]).toEqual(['grace', []]);
  });
});

describe('a period that is opened ahead', () => {
  /** A subscription whose next period begins in five minutes and is there already. */
  async function aboutToRenew() {
    const made = await buy();
    await suite.database.raw(
      `UPDATE billing_periods SET started_at = started_at - shift, ended_at = ended_at - shift
       FROM (SELECT renews_at - now() - interval '5 minutes' AS shift FROM subscriptions
             WHERE subscription_id = :id) AS moved WHERE subscription_id = :id`,
      { id: made.subscription_id },
    );
    await suite.database.raw(
      `UPDATE subscriptions SET anchor = anchor - (renews_at - now() - interval '5 minutes'),
         renews_at = now() + interval '5 minutes' WHERE subscription_id = :id`,
      { id: made.subscription_id },
    );
    const [, ahead] = await grown(made.account_id, 2);
    expect(ahead?.status).toBeNull();
    return made;
  }

  test('takes on what its plan becomes before it starts; the running one doesn’t', async () => {
    const changing = await makePlan(suite.account, { description: { points_limit: 1 } });
    const { account_id, path } = await aboutToRenew();
    await done(suite.account, 'POST', `${path}/change-plan`, { plan_id: changing, effective: 'period_end' });
    await waitFor(async () => (await periods(account_id)).at(-1)?.plan_id === changing);
    await done(suite.account, 'PATCH', `/private/plans/${String(changing)}`, {
      description: { points_limit: 2 },
    });
    const [running, ahead, ...none] = await periods(account_id);
    expect([running?.description['points_limit'], ahead?.description]).toEqual([10, { points_limit: 2 }]);
    expect(none).toEqual([]);
  });

  test('goes when the subscription is cancelled, or its period blocked, and comes back with it', async () => {
    const { account_id, path } = await aboutToRenew();
    await done(suite.account, 'POST', `${path}/cancel`, { effective: 'period_end' });
    expect(await periods(account_id)).toHaveLength(1);
    await done(suite.account, 'POST', `${path}/resume`);
    const [running] = await grown(account_id, 2);
    const period = `/private/periods/${String(running?.period_id)}`;
    await done(suite.account, 'POST', `${period}/block`);
    expect(await periods(account_id)).toHaveLength(1);
    await done(suite.account, 'POST', `${period}/unblock`);
    await grown(account_id, 2);
  });

  test('gets a new number of team slots like the running one', async () => {
    const { account_id, path } = await aboutToRenew();
    await done(suite.account, 'POST', `${path}/team-slots`, { team_slots_limit: 12 });
    const slots = (await grown(account_id, 2)).map(({ team_slots_limit }) => team_slots_limit);
    expect(slots).toEqual([12, 12]);
  });
});

test('each change is in the audit log with its operator, and a renewal with no one', async () => {
  const { account_id, subscription_id, path } = await buy();
  await done(suite.account, 'POST', `${path}/cancel`, { effective: 'period_end' });
  await done(suite.account, 'POST', `${path}/resume`);
  await age(suite.database, [subscription_id], 32);
  await grown(account_id, 2);
  const log = `/private/audit-log?account_id=${String(account_id)}`;
  const { entries } = await done<{ entries: Record<string, unknown>[] }>(suite.account, 'GET', log);
  expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
    ['renewal', 'subscription_renewed'],
    ['operator:suite-operator', 'subscription_resumed'],
    ['operator:suite-operator', 'subscription_cancellation_planned'],
    ['operator:suite-operator', 'subscription_created'],
    ['operator:suite-operator', 'account_created'],
  ]);
});
