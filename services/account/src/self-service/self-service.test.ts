import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import {
  done,
  makePlan,
  periodsOf,
  agedSubscriber,
  makePublicPlan,
  order,
  previewFor,
  setSlots,
  shownTo,
  startShop,
  subscriber,
} from '../../test/suite/billing.ts';
import { newOwner } from '../../test/suite/console.ts';
import type { PeopleUnderTest } from '../../test/suite/people.ts';
import { insertPeriod } from '../../test/suite/database/records.ts';

/** What account holders do about their plan themselves. */

let suite: PeopleUnderTest;
let small: number;
let large: number;

beforeAll(async () => {
  ({ suite, small, large } = await startShop());
});

afterAll(async () => {
  await suite.close();
});

const person = () => newOwner(suite);

describe('subscribing', () => {
  test('starts now, as previewed, and is shown, with an audit entry that names the account', async () => {
    const owner = await person();
    expect(await shownTo(owner)).toMatchObject({
      status: 'none',
      billing_period: null,
      subscription: null,
      self_service: {
        actions: ['subscribe', 'change', 'cancel', 'slots'],
        contact_sales_url: 'mailto:sales@example.com',
      },
    });
    const preview = await previewFor(owner, small);
    expect(preview).toMatchObject({ period_id: null, period_end: null });
    const { status, body } = await order(owner, small);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        status: 'active',
        billing_period: expect.objectContaining({ plan_id: small, is_trial: false }),
        subscription: expect.objectContaining({
          plan_id: small,
          billing_interval: 'month',
          cancel_at_period_end: false,
          pending: null,
        }),
      }),
    ]);
    const { account_id } = owner;
    const entries = await suite
      .database('audit_log')
      .where({ account_id, action: 'subscription_created' })
      .select('actor');
    expect(entries).toEqual([{ actor: `account:${String(account_id)}` }]);
    expect((await order(owner, small)).body['code']).toBe('subscription_exists');
  });

  test('to a plan that is private, archived or has no price for the interval is refused alike', async () => {
    const owner = await person();
    const hidden = await makePlan(suite.account);
    const monthly = await makePublicPlan(suite.account, {}, { price_year: null });
    const archived = await makePublicPlan(suite.account, {});
    await done(suite.account, 'POST', `/private/plans/${String(archived)}/archive`);
    for (const [plan, interval] of [
      [hidden, 'month'],
      [archived, 'month'],
      [monthly, 'year'],
      [999_999_999, 'month'],
    ] as const) {
      const { status, body } = await order(owner, plan, { interval });
      expect([plan, status, body['code']]).toEqual([plan, 409, 'plan_not_offered']);
    }
    expect((await shownTo(owner)).subscription).toBeNull();
  });

  test('ends a trial that started at sign-up, but no period that an operator sold', async () => {
    for (const isTrial of [true, false]) {
      const owner = await person();
      const { account_id } = owner;
      const started_at = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 60_000);
      const period_id = await insertPeriod(suite.database, account_id, { started_at });
      if (isTrial) {
        await suite.database('sign_up_plans').insert({ account_id, settled_at: new Date(), period_id });
      }
      const answer = await order(owner, small);
      expect([answer.status, answer.body['code']]).toEqual(
        isTrial ? [201, undefined] : [409, 'periods_overlap'],
      );
      const periods = await periodsOf(suite.account, account_id);
      expect(periods.map(({ status }) => status)).toEqual(isTrial ? ['expired', 'active'] : ['active']);
    }
  });

  test('replaces a trial that has just started', async () => {
    const owner = await person();
    const { account_id } = owner;
    const started_at = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    const period_id = await insertPeriod(suite.database, account_id, { started_at });
    await suite.database('sign_up_plans').insert({ account_id, settled_at: new Date(), period_id });
    expect((await order(owner, small)).status).toBe(201);
    const [trial, bought] = await periodsOf(suite.account, account_id);
    expect(Date.parse(bought?.started_at ?? '')).toBeGreaterThan(Date.parse(trial?.ended_at ?? ''));
  });

  test('does not lift the block of a period or an account', async () => {
    const owner = await person();
    const started_at = new Date(Date.now() - 90_000_000);
    const ended_at = new Date(Date.now() - 4_000_000);
    const blocked_at = new Date();
    await insertPeriod(suite.database, owner.account_id, { started_at, ended_at, blocked_at });
    expect((await order(owner, small)).body['code']).toBe('account_blocked');
    const other = await person();
    await done(suite.account, 'POST', `/private/accounts/${String(other.account_id)}/block`);
    expect((await order(other, small)).body['code']).toBe('account_blocked');
  });
});

describe('changing the plan', () => {
  test('to a larger one now continues the period with its usage, as previewed', async () => {
    const owner = await agedSubscriber(suite, small, 10);
    const { billing_period: before } = await shownTo(owner);
    const period_id = before?.period_id ?? 0;
    const used = { points: 1, requests: 1, time_ms: 0, traffic_bytes: 0 };
    await suite.database('usage_totals').insert({ period_id, ...used });
    const preview = await previewFor(owner, large);
    expect(preview).toMatchObject({
      is_charged: false,
      now: { started_at: before?.started_at, ended_at: before?.ended_at },
    });
    const { status, body } = await order(owner, large, { effective: 'now' });
    expect([status, body['billing_period']]).toEqual([
      200,
      expect.objectContaining({
        period_id,
        plan_id: large,
        ended_at: before?.ended_at,
        usage: expect.objectContaining({ points_usage: 1 }),
      }),
    ]);
  });

  test('to a year of a larger one now starts a period without usage, as previewed', async () => {
    const owner = await agedSubscriber(suite, small, 10);
    const preview = await previewFor(owner, large, 'year');
    const { body } = await order(owner, large, { effective: 'now', interval: 'year' });
    expect(body['billing_period']).toMatchObject({ plan_id: large, usage: { points_usage: 0 } });
    const startMs = Date.parse((await shownTo(owner)).billing_period?.started_at ?? '');
    expect(startMs - Date.parse(preview.now?.started_at ?? '')).toBeLessThanOrEqual(10_000);
  });

  test('now to a smaller, an equal or the same one is refused: its points would come back', async () => {
    const owner = await subscriber(suite, large);
    const equal = await makePublicPlan(suite.account, { points_limit: 9_000, team_slots_limit: 8 });
    for (const plan of [small, equal, large]) {
      expect((await previewFor(owner, plan)).now).toBeNull();
      const { status, body } = await order(owner, plan, { effective: 'now' });
      expect([plan, status, body['code']]).toEqual([plan, 409, 'plan_change_not_immediate']);
    }
    expect(await periodsOf(suite.account, owner.account_id)).toHaveLength(1);
  });

  test('at the end of the period is planned, shown, renewed as previewed, and can be taken back', async () => {
    const owner = await agedSubscriber(suite, small, 10);
    const before = await shownTo(owner);
    const preview = await previewFor(owner, large, 'year');
    const planned = await order(owner, large, { effective: 'period_end', interval: 'year' });
    expect(planned.body).toMatchObject({
      billing_period: { period_id: before.billing_period?.period_id },
      subscription: {
        plan_id: small,
        next_period_at: preview.period_end?.started_at,
        pending: { plan_id: large, plan_name: expect.stringContaining('Public'), billing_interval: 'year' },
      },
    });
    const { body } = await order(owner, small, { effective: 'period_end' });
    expect(body['subscription']).toMatchObject({ plan_id: small, pending: null });
    await order(owner, large, { effective: 'period_end', interval: 'year' });
    const { account_id } = owner;
    // The renewal opens the next period ten minutes ahead.
    const soon = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 60_000);
    await suite.database.transaction(async (inside) => {
      await inside('billing_periods')
        .where({ account_id })
        .update({ ended_at: new Date(+soon - 1_000) });
      await inside('subscriptions').where({ account_id }).update({ renews_at: soon });
    });
    const [, next] = await waitFor(async () => {
      const periods = await periodsOf(suite.account, account_id);
      return periods.length === 2 ? periods : undefined;
    });
    expect(next).toMatchObject({ plan_id: large, started_at: soon.toISOString() });
    expect((await shownTo(owner)).subscription).toMatchObject({ next_period_at: soon.toISOString() });
  });

  test('that was shown for another period is refused, so that it never means something else', async () => {
    const owner = await agedSubscriber(suite, small, 10);
    const shown = await previewFor(owner, large);
    await order(owner, large, { effective: 'now', interval: 'year' });
    const larger = await makePublicPlan(suite.account, { points_limit: 99_000 });
    const stale = { plan_id: larger, billing_interval: 'month', period_id: shown.period_id };
    for (const effective of ['now', 'period_end']) {
      const { status, body } = await owner.browser.request('POST', '/subscription/change-plan', {
        ...stale,
        effective,
      });
      expect([status, body['code']]).toEqual([409, 'subscription_changed']);
    }
  });

  test('without a subscription is not found', async () => {
    const owner = await person();
    expect((await order(owner, small, { effective: 'period_end' })).status).toBe(404);
    for (const action of ['cancel', 'resume']) {
      expect((await owner.browser.request('POST', `/subscription/${action}`)).status).toBe(404);
    }
    expect((await setSlots(owner, 5)).status).toBe(404);
  });
});

test('cancelling takes effect at the end of the period, once, and can be undone until then', async () => {
  const owner = await subscriber(suite, small);
  const post = (action: string) => owner.browser.request('POST', `/subscription/${action}`);
  for (const [action, cancelled] of [
    ['cancel', true],
    ['cancel', true],
    ['resume', false],
    ['resume', false],
  ] as const) {
    const { status, body } = await post(action);
    expect([action, status]).toEqual([action, 200]);
    expect(body).toMatchObject({ status: 'active', subscription: { cancel_at_period_end: cancelled } });
  }
  const { account_id } = owner;
  const entries = await suite.database('audit_log').where({ account_id }).orderBy('audit_id').pluck('action');
  expect(entries.filter((action) => String(action).startsWith('subscription_'))).toEqual([
    'subscription_created',
    'subscription_cancellation_planned',
    'subscription_resumed',
  ]);
});
