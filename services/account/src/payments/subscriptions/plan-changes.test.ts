import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { becomeReady } from '@tollgate/testbed/service-process';
import { done } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { hasLastedASecond } from '../../../test/suite/database/records.ts';
import { leaveTest, quiet, startPaidAccount } from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';

/** Changes of a plan that Stripe charges, within its period. */

let suite: PaidAccount;

beforeAll(async () => {
  suite = await startPaidAccount();
});

afterAll(async () => {
  await suite.close();
});

afterEach(async () => {
  await leaveTest(suite);
});

type Row = Record<string, unknown>;

let plans = 0;

async function newPlan(points_limit: number, unit_amount: number, interval = 'month'): Promise<number> {
  plans += 1;
  const wanted = { name: `Plan ${String(plans)}`, description: { points_limit } };
  const { plan_id } = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', wanted);
  const path = `/private/plans/${String(plan_id)}`;
  await done(suite.account, 'POST', `${path}/publish`, { public_position: plans, price_month: 'none' });
  await setPrice(plan_id, unit_amount, interval);
  return plan_id;
}

const setPrice = (plan_id: number, unit_amount: number, interval = 'month') =>
  done(suite.account, 'PUT', `/private/plans/${String(plan_id)}/prices/${interval}`, {
    currency: 'eur',
    unit_amount,
  });

type Subscriber = Owner & { plan_id: number; stripeId: string; subscription_id: number };

/** €49 a month, or a year. */
async function newSubscriber(interval = 'month'): Promise<Subscriber> {
  const [owner, plan_id] = [await newOwner(suite), await newPlan(5_000, 4_900, interval)];
  const { body } = await owner.browser.request('POST', '/subscription/checkout', {
    plan_id,
    billing_interval: interval,
  });
  const checkout = body as { checkout_id: number; checkout_url: string };
  await suite.payments.post(`/sample/sessions/${checkout.checkout_url.split('/').at(-1) ?? ''}/pay`, {});
  const { checkout_id } = checkout;
  const row = async () => suite.database('stripe_subscriptions').where({ checkout_id }).first<Row>();
  await waitFor(async () => (await row())['state'] === 'started', { what: 'the plan to start' });
  await quiet(suite);
  const { stripe_subscription_id, subscription_id } = await row();
  return {
    ...owner,
    plan_id,
    stripeId: String(stripe_subscription_id),
    subscription_id: Number(subscription_id),
  };
}

const periodsOf = ({ account_id }: Owner): Promise<Row[]> =>
  suite.database('billing_periods').where({ account_id }).orderBy('started_at');

const view = async ({ browser }: Owner): Promise<Row> => (await browser.request('GET', '/subscription')).body;

const changesTo = (owner: Owner, plan_id: number) =>
  waitFor(async () => (await periodsOf(owner)).at(-1)?.['plan_id'] === plan_id, {
    what: 'the period to have the plan',
  });

type Price = { period_id: number; amount: number; currency: string; decimals: number };

async function priceOf({ browser }: Owner, plan_id: number, interval = 'month'): Promise<Price> {
  const path = `/subscription/upgrade?plan_id=${String(plan_id)}&billing_interval=${interval}`;
  const { status, text, body } = await browser.request('GET', path);
  if (status !== 200) throw new Error(text);
  return body as Price;
}

const upgrade = ({ browser }: Owner, plan_id: number, { period_id, amount }: Price, interval = 'month') =>
  browser.request('POST', '/subscription/upgrade', {
    plan_id,
    billing_interval: interval,
    period_id,
    amount,
  });

async function stripeOf(path: string): Promise<Row> {
  const response = await fetch(`${suite.payments.url}/v1${path}`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return (await response.json()) as Row;
}

const atStripe = ({ stripeId }: Subscriber, body: Record<string, string>) =>
  suite.payments.post(`/v1/subscriptions/${stripeId}`, body);

/** What Stripe has charged for changes. */
async function charged({ stripeId }: Subscriber): Promise<Row[]> {
  const { data } = (await stripeOf('/invoices?limit=100')) as { data: Row[] };
  return data.filter(({ billing_reason, parent }) => {
    const { subscription_details } = (parent ?? {}) as { subscription_details?: { subscription: string } };
    return billing_reason === 'subscription_update' && subscription_details?.subscription === stripeId;
  });
}

/** The item's, in Stripe's dashboard. */
async function setPriceAtStripe(subscriber: Subscriber, price: string): Promise<void> {
  const { items } = (await stripeOf(`/subscriptions/${subscriber.stripeId}`)) as { items: { data: Row[] } };
  await atStripe(subscriber, {
    'items[0][id]': String(items.data[0]?.['id']),
    'items[0][price]': price,
    proration_behavior: 'none',
  });
}

async function stripePriceOf(plan_id: number): Promise<string> {
  await done(suite.account, 'POST', '/private/payments/sync');
  const row = await suite.database('plan_prices').where({ plan_id, withdrawn_at: null }).first<Row>();
  return String(row['stripe_price_id']);
}

describe('an upgrade', () => {
  test('is charged with the amount that was shown, and changes the period in place', async () => {
    const subscriber = await newSubscriber();
    const [before] = await periodsOf(subscriber);
    const plan_id = await newPlan(50_000, 19_900);
    const price = await priceOf(subscriber, plan_id);
    expect(price).toMatchObject({ period_id: before?.['period_id'], currency: 'eur', decimals: 2 });
    // At the period's start, all but what has passed of it is the difference of the two prices.
    expect(price.amount).toBeGreaterThan(14_900);
    expect(price.amount).toBeLessThanOrEqual(15_000);
    const { status, body } = await upgrade(subscriber, plan_id, price);
    expect([status, body]).toEqual([200, { state: 'paid', payment_url: null }]);
    expect(await periodsOf(subscriber)).toMatchObject([
      {
        period_id: before?.['period_id'],
        plan_id,
        description: { points_limit: 50_000 },
        started_at: before?.['started_at'],
        ended_at: before?.['ended_at'],
      },
    ]);
    expect(await view(subscriber)).toMatchObject({ subscription: { plan_id, pending: null } });
    await quiet(suite);
    expect(await charged(subscriber)).toMatchObject([{ status: 'paid', amount_paid: price.amount }]);
    const { account_id } = subscriber;
    expect(await suite.database('invoices').where({ account_id }).orderBy('invoice_id')).toMatchObject([
      { billing_reason: 'subscription_create', state: 'paid' },
      { billing_reason: 'subscription_update', state: 'paid', total: price.amount },
    ]);
    const about = { account_id, action: 'subscription_upgrade_begun' };
    expect(await suite.database('audit_log').where(about)).toMatchObject([
      { details: { plan_id, amount: price.amount, currency: 'eur' } },
    ]);
    expect(suite.faults()).toEqual([]);
  });

  test('by several clicks at once is charged once', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(50_000, 19_900);
    const price = await priceOf(subscriber, plan_id);
    await Promise.all([1, 2, 3].map(() => upgrade(subscriber, plan_id, price)));
    await quiet(suite);
    expect(await charged(subscriber)).toHaveLength(1);
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id }]);
    expect(await suite.database('period_plans').where({ period_id: price.period_id })).toMatchObject([
      { plan_id: subscriber.plan_id },
    ]);
  });

  test('of another amount than was confirmed is refused, and nothing is charged', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(50_000, 19_900);
    const price = await priceOf(subscriber, plan_id);
    await setPrice(plan_id, 29_900);
    const { status, body } = await upgrade(subscriber, plan_id, price);
    expect([status, body['code']]).toEqual([409, 'amount_changed']);
    expect(await charged(subscriber)).toEqual([]);
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id: subscriber.plan_id }]);
  });

  test('with a declined card changes nothing until its invoice is paid', async () => {
    const subscriber = await newSubscriber();
    await atStripe(subscriber, { default_payment_method: 'pm_card_chargeCustomerFail' });
    const plan_id = await newPlan(50_000, 19_900);
    const price = await priceOf(subscriber, plan_id);
    const { body } = await upgrade(subscriber, plan_id, price);
    expect(body).toMatchObject({ state: 'payment_required', payment_url: expect.anything() });
    // A second click leads to the same invoice.
    expect((await upgrade(subscriber, plan_id, price)).body).toEqual(body);
    await quiet(suite);
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id: subscriber.plan_id }]);
    // What waits for its payment is not due.
    expect((await view(subscriber))['status']).toBe('active');
    await fetch(String(body['payment_url']), {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
    });
    await changesTo(subscriber, plan_id);
    expect(await charged(subscriber)).toMatchObject([{ status: 'paid' }]);
  });

  test('that was charged takes effect although account is killed, and its events come late and twice', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(50_000, 19_900);
    const price = await priceOf(subscriber, plan_id);
    await suite.payments.post('/sample/deliveries', { hold: 'true', copies: '2' });
    // As if the process had died between the charge and its effect.
    await suite.payments.post(`/v1/subscriptions/${subscriber.stripeId}`, {
      ...(await itemOf(subscriber)),
      'items[0][price]': await stripePriceOf(plan_id),
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    });
    await suite.account.kill();
    await suite.account.restart();
    await becomeReady(suite.account);
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id: subscriber.plan_id }]);
    await suite.payments.post('/sample/deliveries', { hold: 'false' });
    await suite.payments.post('/sample/deliveries/release', { order: 'reversed' });
    await changesTo(subscriber, plan_id);
    await quiet(suite);
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id, period_id: price.period_id }]);
    expect(await suite.database('period_plans').where({ period_id: price.period_id })).toHaveLength(1);
  });

  test('whose events were lost is found by reconciling', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(50_000, 19_900);
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    await suite.payments.post(`/v1/subscriptions/${subscriber.stripeId}`, {
      ...(await itemOf(subscriber)),
      'items[0][price]': await stripePriceOf(plan_id),
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    });
    await done(suite.account, 'POST', '/private/payments/reconcile', {});
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id }]);
  });

  test('to a year ends the period, and starts a year from now', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(60_000, 49_000, 'year');
    const price = await priceOf(subscriber, plan_id, 'year');
    expect(price.amount).toBeGreaterThan(49_000 - 4_901);
    expect(price.amount).toBeLessThan(49_000 - 4_800);
    expect((await upgrade(subscriber, plan_id, price, 'year')).body['state']).toBe('paid');
    await changesTo(subscriber, plan_id);
    const [month, year] = await periodsOf(subscriber);
    expect(Number(year?.['started_at']) - Number(month?.['ended_at'])).toBe(1_000);
    await quiet(suite);
    const { billing_cycle_anchor } = await stripeOf(`/subscriptions/${subscriber.stripeId}`);
    const subscription = await suite
      .database('subscriptions')
      .where({ subscription_id: subscriber.subscription_id })
      .first<{ anchor: Date; billing_interval: string }>();
    expect(subscription).toMatchObject({
      anchor: new Date(Number(billing_cycle_anchor) * 1_000),
      billing_interval: 'year',
    });
  });

  test('is refused where it would not be one', async () => {
    const subscriber = await newSubscriber();
    const smaller = await newPlan(1_000, 1_900);
    const larger = await newPlan(50_000, 19_900);
    const codeOf = async ({ browser }: Owner, plan_id: number, interval = 'month') => {
      const path = `/subscription/upgrade?plan_id=${String(plan_id)}&billing_interval=${interval}`;
      return (await browser.request('GET', path)).body['code'];
    };
    expect(await codeOf(subscriber, smaller)).toBe('plan_change_not_immediate');
    expect(await codeOf(subscriber, larger, 'year')).toBe('plan_not_offered');
    expect(await codeOf(await newOwner(suite), larger)).toBe('not_found');
    const price = await priceOf(subscriber, larger);
    const changed = await upgrade(subscriber, larger, { ...price, period_id: price.period_id + 1 });
    expect(changed.body['code']).toBe('subscription_changed');
    await subscriber.browser.request('POST', '/subscription/cancel');
    expect(await codeOf(subscriber, larger)).toBe('plan_change_not_immediate');
  });
});

async function itemOf({ stripeId }: Subscriber): Promise<Record<string, string>> {
  const { items } = (await stripeOf(`/subscriptions/${stripeId}`)) as { items: { data: Row[] } };
  return { 'items[0][id]': String(items.data[0]?.['id']) };
}

describe('from a year to months', () => {
  test("the month begins at the year's end, here and at Stripe, and is charged then", async () => {
    const subscriber = await newSubscriber('year');
    const plan_id = await newPlan(1_000, 900);
    expect(await previewOf(subscriber, plan_id)).toMatchObject({
      now: null,
      is_charged: true,
      period_end: expect.anything(),
    });
    expect((await planFor(subscriber, plan_id)).status).toBe(200);
    await quiet(suite);
    // Stripe goes on as it is until then.
    expect(await stripesPeriodOf(subscriber)).toMatchObject({ interval: 'year' });
    const border = await endPeriodSoon(subscriber);
    await waitFor(async () => (await periodsOf(subscriber)).length === 2, { what: 'the month' });
    expect((await periodsOf(subscriber))[1]).toMatchObject({ plan_id, started_at: border });
    await quiet(suite);
    const price = await stripePriceOf(plan_id);
    expect(await stripesPeriodOf(subscriber)).toMatchObject({ price, interval: 'month', ends_at: border });
    expect(await suite.database('payment_blocks')).toHaveLength(1);

    const now = await suite.payments.post('/sample/clock', { seconds: '0' });
    const untilBorder = Math.floor(border.getTime() / 1_000) - Number(now['now']);
    // A draft at the border, which Stripe charges an hour later.
    for (const seconds of [untilBorder, 3_601]) {
      await suite.payments.post('/sample/clock', { seconds: String(seconds) });
    }
    await waitFor(async () => (await suite.database('payment_blocks')).length === 0, {
      what: 'the month to be paid',
    });
    const { account_id } = subscriber;
    expect(await suite.database('invoices').where({ account_id }).orderBy('invoice_id')).toMatchObject([
      { billing_reason: 'subscription_create', total: 4_900 },
      { billing_reason: 'subscription_update', total: 0 },
      { billing_reason: 'subscription_cycle', state: 'paid', total: 900 },
    ]);
    await quiet(suite);
    expect(await periodsOf(subscriber)).toHaveLength(2);
    expect(await view(subscriber)).toMatchObject({
      subscription: { plan_id, billing_interval: 'month', pending: null },
    });
    expect(suite.faults()).toEqual([]);
  });

  test('is told to an operator if Stripe has renewed the year before it heard of it', async () => {
    const subscriber = await newSubscriber('year');
    const plan_id = await newPlan(1_000, 900);
    await planFor(subscriber, plan_id);
    await suite.payments.post('/sample/outage', { on: 'true' });
    await endPeriodSoon(subscriber);
    await waitFor(async () => (await periodsOf(subscriber)).length === 2, { what: 'the month' });
    await suite.payments.post('/sample/clock', { seconds: String(366 * 86_400) });
    await suite.payments.post('/sample/outage', { on: 'false' });
    const issues = () => suite.database('payment_issues').where({ object_id: subscriber.stripeId });
    await waitFor(async () => (await issues()).length > 0, { what: 'the issue' });
    expect(await issues()).toMatchObject([{ kind: 'interval_changed_late', details: { plan_id } }]);
    expect(await stripesPeriodOf(subscriber)).toMatchObject({ interval: 'year' });
  });
});

test('a planned change that Stripe hears of after it has renewed is told to an operator', async () => {
  const border = new Date((Math.ceil(Date.now() / 1_000) + 300) * 1_000);
  const anchor = new Date(border);
  anchor.setUTCFullYear(anchor.getUTCFullYear() - 1);
  await setStripesClock(anchor);
  const subscriber = await newSubscriber('year');
  const plan_id = await newPlan(1_000, 900, 'year');
  await suite.payments.post('/sample/outage', { on: 'true' });
  const wanted = { plan_id, billing_interval: 'year', effective: 'period_end' };
  const period_id = (await periodsOf(subscriber))[0]?.['period_id'];
  await subscriber.browser.request('POST', '/subscription/change-plan', { ...wanted, period_id });
  await changesTo(subscriber, plan_id);
  // A year at the price of before.
  await setStripesClock(new Date(border.getTime() + 60_000));
  await suite.payments.post('/sample/outage', { on: 'false' });
  await quiet(suite);
  expect(await suite.database('payment_issues').where({ object_id: subscriber.stripeId })).toMatchObject([
    { kind: 'plan_changed_late', account_id: subscriber.account_id, details: { plan_id } },
  ]);
  // The next one is at the new price.
  const price = await suite.database('plan_prices').where({ plan_id }).first<Row>();
  expect(await stripesPeriodOf(subscriber)).toMatchObject({ price: price['stripe_price_id'] });
});

test('a cancellation that Stripe hears of after it has renewed gets the renewal back', async () => {
  // Not within the minutes in which the next period is open already.
  const border = new Date((Math.ceil(Date.now() / 1_000) + 3_600) * 1_000);
  const anchor = new Date(border);
  anchor.setUTCFullYear(anchor.getUTCFullYear() - 1);
  await setStripesClock(anchor);
  const subscriber = await newSubscriber('year');
  const { account_id, stripeId } = subscriber;
  await suite.payments.post('/sample/outage', { on: 'true' });
  expect(await subscriber.browser.request('POST', '/subscription/cancel')).toMatchObject({ status: 200 });
  await hasLastedASecond(suite.database, Number((await periodsOf(subscriber))[0]?.['period_id']));
  await endPeriodSoon(subscriber, 0);
  await waitFor(async () => (await countedBy(subscriber)).ended_at !== null, { what: 'the end' });
  // The border, and the hour for which the invoice is a draft.
  for (const ms of [1_000, 3_700_000]) await setStripesClock(new Date(border.getTime() + ms));
  await suite.payments.post('/sample/outage', { on: 'false' });
  await quiet(suite);
  const issues = await suite.database('payment_issues').where({ account_id });
  expect(issues).toMatchObject([
    { kind: 'late_payment_refunded', object_id: expect.stringMatching(/^pi_/), details: { amount: 4_900 } },
  ]);
  const [{ object_id }] = issues as [{ object_id: string }];
  expect(await stripeOf(`/refunds?payment_intent=${object_id}`)).toMatchObject({
    data: [{ amount: 4_900, status: 'succeeded' }],
  });
  expect(await stripeOf(`/subscriptions/${stripeId}`)).toMatchObject({ status: 'canceled' });
});

async function previewOf({ browser }: Owner, plan_id: number): Promise<Row> {
  const path = `/subscription/preview?plan_id=${String(plan_id)}&billing_interval=month`;
  return (await browser.request('GET', path)).body;
}

const planFor = async (subscriber: Subscriber, plan_id: number) =>
  subscriber.browser.request('POST', '/subscription/change-plan', {
    plan_id,
    billing_interval: 'month',
    effective: 'period_end',
    period_id: (await periodsOf(subscriber))[0]?.['period_id'],
  });

/** What Stripe charges, and until when it has. */
async function stripesPeriodOf({ stripeId }: Subscriber) {
  const { items } = (await stripeOf(`/subscriptions/${stripeId}`)) as {
    items: { data: { current_period_end: number; price: { id: string; recurring: Row } }[] };
  };
  const [item] = items.data;
  const ends_at = new Date(Number(item?.current_period_end) * 1_000);
  return { price: item?.price.id, interval: item?.price.recurring['interval'], ends_at };
}

/** The next period is opened ten minutes ahead. Returns its start. */
async function endPeriodSoon({ subscription_id }: Subscriber, inSec = 300): Promise<Date> {
  const renews_at = new Date((Math.ceil(Date.now() / 1_000) + inSec) * 1_000);
  const ended_at = new Date(renews_at.getTime() - 1_000);
  await suite.database('billing_periods').where({ subscription_id }).update({ ended_at });
  await suite
    .database('subscriptions')
    .where({ subscription_id })
    .update({ renews_at, next_attempt_at: new Date() });
  return renews_at;
}

type Counted = { anchor: Date; cancel_at_period_end: boolean; ended_at: Date | null };

const countedBy = ({ subscription_id }: Subscriber): Promise<Counted> =>
  suite.database('subscriptions').where({ subscription_id }).first<Counted>();

/** Of what is made at Stripe from now on: pages of before aren't read again. */
const reconcile = () =>
  done<{ differences: { object_id: string; change: string }[] }>(
    suite.account,
    'POST',
    '/private/payments/reconcile',
    { since: new Date().toISOString() },
  );

async function setStripesClock(to: Date): Promise<void> {
  const { now } = await suite.payments.post('/sample/clock', { seconds: '0' });
  const seconds = Math.floor(to.getTime() / 1_000) - Number(now);
  await suite.payments.post('/sample/clock', { seconds: String(seconds) });
}

/** Other tests move Stripe's clock by a year. */
const resetStripesClock = () => setStripesClock(new Date());

/** Stripe's way to move a billing date: a trial until then. */
async function moveBillingDate(subscriber: Subscriber, days: number): Promise<Date> {
  const seconds = Math.floor(Date.now() / 1_000) + days * 86_400;
  await atStripe(subscriber, { trial_end: String(seconds), proration_behavior: 'none' });
  return new Date(seconds * 1_000);
}

describe('a billing date that is moved at Stripe', () => {
  beforeEach(resetStripesClock);

  test("leaves the running period alone; the next one ends with Stripe's, and is paid already", async () => {
    const subscriber = await newSubscriber();
    // The next period isn't opened yet.
    await endPeriodSoon(subscriber, 900);
    const before = await periodsOf(subscriber);
    const ends_at = await moveBillingDate(subscriber, 20);
    await waitFor(async () => +(await countedBy(subscriber)).anchor === +ends_at, { what: 'the date' });
    await quiet(suite);
    expect(await periodsOf(subscriber)).toEqual(before);
    const border = await endPeriodSoon(subscriber);
    await waitFor(async () => (await periodsOf(subscriber)).length === 2, { what: 'the next period' });
    const [, next] = await periodsOf(subscriber);
    expect(next).toMatchObject({ started_at: border, ended_at: new Date(+ends_at - 1_000) });
    const { account_id } = subscriber;
    expect(await suite.database('payment_blocks').where({ account_id })).toEqual([]);
    const about = { account_id, action: 'subscription_billing_date_moved' };
    expect(await suite.database('audit_log').where(about)).toHaveLength(1);
    expect(suite.faults()).toEqual([]);
  });

  test('shortly after the end of the running period makes no period of its own', async () => {
    const subscriber = await newSubscriber();
    const ends_at = await moveBillingDate(subscriber, 1);
    await waitFor(async () => +(await countedBy(subscriber)).anchor === +ends_at, { what: 'the date' });
    const border = await endPeriodSoon(subscriber);
    await waitFor(async () => (await periodsOf(subscriber)).length === 2, { what: 'the next period' });
    const [, next] = await periodsOf(subscriber);
    const lengthDays = (Number(next?.['ended_at']) - +border) / 86_400_000;
    expect(lengthDays).toBeGreaterThan(28);
  });

  test('without an event is reported and taken over by reconciling, once', async () => {
    const subscriber = await newSubscriber();
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    const ends_at = await moveBillingDate(subscriber, 40);
    const { differences } = await reconcile();
    const change = `subscription ${String(subscriber.subscription_id)}: the next period ends at ${ends_at.toISOString()}, as Stripe's`;
    expect(differences).toContainEqual({ object_id: subscriber.stripeId, change });
    expect((await countedBy(subscriber)).anchor).toEqual(ends_at);
    const again = await reconcile();
    expect(again.differences.filter(({ object_id }) => object_id === subscriber.stripeId)).toEqual([]);
  });
});

describe('a subscription that was changed at Stripe without an event', () => {
  beforeEach(resetStripesClock);

  test('is cancelled, resumed and ended by reconciling', async () => {
    const subscriber = await newSubscriber();
    const about = async () =>
      (await reconcile()).differences
        .filter(({ object_id }) => object_id === subscriber.stripeId)
        .map(({ change }) => change);
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    await atStripe(subscriber, { cancel_at_period_end: 'true' });
    expect(await about()).toEqual([expect.stringMatching(/cancelled at the end of the period$/)]);
    expect((await countedBy(subscriber)).cancel_at_period_end).toBe(true);
    await quietChanges();
    await atStripe(subscriber, { cancel_at_period_end: 'false' });
    expect(await about()).toEqual([expect.stringMatching(/resumed$/)]);
    await quietChanges();
    await fetch(`${suite.payments.url}/v1/subscriptions/${subscriber.stripeId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
    });
    expect(await about()).toEqual([expect.stringMatching(/ended$/)]);
    expect((await countedBy(subscriber)).ended_at).toEqual(expect.any(Date));
    await quietChanges();
    expect(await about()).toEqual([]);
  });

  /** Stripe has heard of the changes here, while it sends nothing. */
  const quietChanges = () =>
    waitFor(
      async () => (await suite.database('stripe_subscriptions').whereNotNull('next_attempt_at')).length === 0,
      { what: 'the changes to be told' },
    );
});

describe("an operator's change of a paid plan that takes effect at once", () => {
  beforeEach(resetStripesClock);

  const change = ({ subscription_id }: Subscriber, plan_id: number, billing_interval: string) =>
    done(suite.account, 'POST', `/private/subscriptions/${String(subscription_id)}/change-plan`, {
      plan_id,
      billing_interval,
      effective: 'now',
    });

  test('with another interval is charged less what is left, and both calendars count from one instant', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(60_000, 49_000, 'year');
    // Stripe's clock is ahead: its year begins after ours.
    await suite.payments.post('/sample/clock', { seconds: '7' });
    await change(subscriber, plan_id, 'year');
    await waitFor(async () => (await charged(subscriber)).length === 1, { what: 'the charge' });
    const [invoice] = await charged(subscriber);
    expect(invoice).toMatchObject({ status: 'paid' });
    expect(Number(invoice?.['total'])).toBeGreaterThan(49_000 - 4_901);
    expect(Number(invoice?.['total'])).toBeLessThan(49_000 - 4_800);
    await quiet(suite);
    const { billing_cycle_anchor } = await stripeOf(`/subscriptions/${subscriber.stripeId}`);
    expect((await countedBy(subscriber)).anchor).toEqual(new Date(Number(billing_cycle_anchor) * 1_000));
    const year = (await periodsOf(subscriber)).at(-1);
    expect(Number(year?.['started_at'])).toBeLessThan(Number(billing_cycle_anchor) * 1_000);
    expect(suite.faults()).toEqual([]);
  });

  test('and whose charge is declined leads to grace, and is settled by its invoice', async () => {
    const subscriber = await newSubscriber();
    await atStripe(subscriber, { default_payment_method: 'pm_card_chargeCustomerFail' });
    const plan_id = await newPlan(60_000, 49_000, 'year');
    await change(subscriber, plan_id, 'year');
    await waitFor(async () => (await view(subscriber))['status'] === 'grace', { what: 'the grace' });
    const [invoice] = await charged(subscriber);
    const { account_id } = subscriber;
    const blocks = () => suite.database('payment_blocks').where({ account_id });
    const { finalized_at } = (invoice as Row)['status_transitions'] as { finalized_at: number };
    expect(await blocks()).toMatchObject([
      {
        period_id: (await periodsOf(subscriber)).at(-1)?.['period_id'],
        stripe_invoice_id: invoice?.['id'],
        blocks_at: new Date((finalized_at + 7 * 86_400) * 1_000),
      },
    ]);
    const { body } = await subscriber.browser.request('GET', '/invoices');
    const [open] = body['invoices'] as { invoice_id: number; state: string }[];
    expect(open?.state).toBe('open');
    const path = `/invoices/${String(open?.invoice_id)}/link`;
    const { url } = (await subscriber.browser.request('POST', path)).body;
    await fetch(String(url), {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
    });
    await waitFor(async () => (await view(subscriber))['status'] === 'active', { what: 'the payment' });
    expect(await blocks()).toEqual([]);
    expect(suite.faults()).toEqual([]);
  });

  test('with the same interval is charged with the next invoice', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(60_000, 19_900);
    await change(subscriber, plan_id, 'month');
    await quiet(suite);
    expect(await stripesPeriodOf(subscriber)).toMatchObject({ price: await stripePriceOf(plan_id) });
    expect(await charged(subscriber)).toEqual([]);
  });
});

describe("a price that is changed in Stripe's dashboard", () => {
  test('to that of a larger plan changes the period in place', async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(50_000, 19_900);
    await setPriceAtStripe(subscriber, await stripePriceOf(plan_id));
    await changesTo(subscriber, plan_id);
    expect(await periodsOf(subscriber)).toHaveLength(1);
  });

  test("to that of a smaller plan changes it at the period's end, once, and can be taken back", async () => {
    const subscriber = await newSubscriber();
    const plan_id = await newPlan(1_000, 1_900);
    await setPriceAtStripe(subscriber, await stripePriceOf(plan_id));
    const pending = async () => ((await view(subscriber))['subscription'] as Row)['pending'];
    await waitFor(async () => (await pending()) !== null, { what: 'the change to be planned' });
    expect(await pending()).toMatchObject({ plan_id });
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id: subscriber.plan_id }]);
    await subscriber.browser.request('POST', '/subscription/change-plan', {
      plan_id: subscriber.plan_id,
      billing_interval: 'month',
      effective: 'period_end',
      period_id: (await periodsOf(subscriber))[0]?.['period_id'],
    });
    await quiet(suite);
    expect(await pending()).toBeNull();
    const { items } = (await stripeOf(`/subscriptions/${subscriber.stripeId}`)) as {
      items: { data: { price: Row }[] };
    };
    expect(items.data[0]?.price['id']).toBe(await stripePriceOf(subscriber.plan_id));
  });

  test('to one that is no plan’s changes nothing, and an operator sees it', async () => {
    const subscriber = await newSubscriber();
    const product = await suite.payments.post('/v1/products', { name: 'Other' });
    const price = await suite.payments.post('/v1/prices', {
      product: String(product['id']),
      currency: 'eur',
      unit_amount: '100',
      'recurring[interval]': 'month',
    });
    await setPriceAtStripe(subscriber, String(price['id']));
    const issues = () => suite.database('payment_issues').where({ object_id: subscriber.stripeId });
    await waitFor(async () => (await issues()).length > 0, { what: 'the issue' });
    expect(await issues()).toMatchObject([
      { kind: 'price_not_mapped', account_id: subscriber.account_id, details: { price_id: price['id'] } },
    ]);
    expect(await periodsOf(subscriber)).toMatchObject([{ plan_id: subscriber.plan_id }]);
  });
});

test('a planned change keeps the price that it was confirmed with', async () => {
  const subscriber = await newSubscriber();
  const plan_id = await newPlan(1_000, 1_900);
  const confirmed = await stripePriceOf(plan_id);
  await subscriber.browser.request('POST', '/subscription/change-plan', {
    plan_id,
    billing_interval: 'month',
    effective: 'period_end',
    period_id: (await periodsOf(subscriber))[0]?.['period_id'],
  });
  await setPrice(plan_id, 2_900);
  // The renewal applies it, minutes before the border.
  const { subscription_id } = subscriber;
  await suite
    .database('subscriptions')
    .where({ subscription_id })
    .update({ plan_id, pending_plan_id: null, pending_interval: null });
  await quiet(suite);
  const { items } = (await stripeOf(`/subscriptions/${subscriber.stripeId}`)) as {
    items: { data: { price: Row }[] };
  };
  expect(items.data[0]?.price['id']).toBe(confirmed);
});
