import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import type { SamplePayments } from '@tollgate/testbed/payments/sample-payments';
import { done } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { hasLastedASecond, insertPeriod } from '../../../test/suite/database/records.ts';
import { mailsTo, nthMail } from '../../../test/suite/people.ts';
import { POINTS, buy, leaveTest, newPack, quiet, startPaidAccount } from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { operatePath } from '../../../test/suite/operator.ts';

const GRACE_SEC = 7 * 86_400;

let suite: PaidAccount;
let payments: SamplePayments;

beforeAll(async () => {
  suite = await startPaidAccount({
    SELF_SERVICE: 'subscribe,change,cancel,slots',
    PAYMENT_GRACE_SEC: String(GRACE_SEC),
  });
  payments = suite.payments;
});

afterAll(async () => {
  await suite.close();
});

afterEach(async () => {
  await leaveTest(suite);
});

type Checkout = { checkout_id: number; checkout_url: string; state: string };
type Row = Record<string, unknown>;

let plans = 0;

/** A public plan at €49 a month or year. */
async function newPlan(interval: 'month' | 'year' = 'month'): Promise<number> {
  plans += 1;
  const description = { points_limit: 5_000 };
  const made = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', {
    name: `Paid plan ${String(plans)}`,
    description,
  });
  const path = `/private/plans/${String(made.plan_id)}`;
  await done(suite.account, 'POST', `${path}/publish`, {
    public_position: plans,
    price_month: 'see the page',
  });
  await done(suite.account, 'PUT', `${path}/prices/${interval}`, { currency: 'eur', unit_amount: 4_900 });
  return made.plan_id;
}

async function checkOut({ browser }: Owner, plan_id: number, billing_interval = 'month'): Promise<Checkout> {
  const wanted = { plan_id, billing_interval };
  const { status, text, body } = await browser.request('POST', '/subscription/checkout', wanted);
  if (status !== 201) throw new Error(text);
  return body as Checkout;
}

const sessionOf = ({ checkout_url }: Checkout) => checkout_url.split('/').at(-1) ?? '';

const pay = (checkout: Checkout, payment_method = 'pm_card_visa') =>
  payments.post(`/sample/sessions/${sessionOf(checkout)}/pay`, { payment_method });

/** As the database has it. */
async function rowOf({ checkout_id }: Checkout): Promise<Row> {
  const row = await suite.database('stripe_subscriptions').where({ checkout_id }).first<Row>();
  return row;
}

const becomes = (checkout: Checkout, state: string) =>
  waitFor(async () => (await rowOf(checkout))['state'] === state, { what: `the checkout to be ${state}` });

const view = async ({ browser }: Owner): Promise<Row> => (await browser.request('GET', '/subscription')).body;

const periodsOf = ({ account_id }: Owner): Promise<Row[]> =>
  suite.database('billing_periods').where({ account_id }).orderBy('started_at');

async function entitlementOf({ account_id }: Owner): Promise<Row> {
  const response = await getPrivate(suite.account, `/private/entitlements/${String(account_id)}`);
  return (await response.json()) as Row;
}

const statusBecomes = (owner: Owner, status: string) =>
  waitFor(async () => (await view(owner))['status'] === status, { what: `the status to be ${status}` });

/** Stripe's, as its API answers. */
async function stripeOf(path: string): Promise<Row> {
  const response = await fetch(`${payments.url}/v1${path}`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return (await response.json()) as Row;
}

async function newSubscriber(): Promise<{
  owner: Owner;
  checkout: Checkout;
  stripeId: string;
  plan_id: number;
}> {
  const [owner, plan_id] = [await newOwner(suite), await newPlan()];
  const checkout = await checkOut(owner, plan_id);
  await pay(checkout);
  await becomes(checkout, 'started');
  await quiet(suite);
  return { owner, checkout, plan_id, stripeId: String((await rowOf(checkout))['stripe_subscription_id']) };
}

/** Sets Stripe's clock. */
async function stripesClock(to: Date): Promise<void> {
  const { now } = await payments.post('/sample/clock', { seconds: '0' });
  const seconds = Math.floor(to.getTime() / 1_000) - Number(now);
  await payments.post('/sample/clock', { seconds: String(seconds) });
}

/** By Stripe's clock, the subscription began nearly a year ago: it is renewed within seconds. */
async function newRenewal(): Promise<{ owner: Owner; stripeId: string; border: Date }> {
  const [owner, plan_id] = [await newOwner(suite), await newPlan('year')];
  const wanted = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 6_000);
  const anchor = new Date(wanted);
  anchor.setUTCFullYear(anchor.getUTCFullYear() - 1);
  await stripesClock(anchor);
  const checkout = await checkOut(owner, plan_id, 'year');
  await pay(checkout);
  await becomes(checkout, 'started');
  await waitFor(async () => (await periodsOf(owner)).length === 2, { what: 'the next period to be open' });
  // Stripe's clock goes on until it is paid.
  const border = (await periodsOf(owner))[1]?.['started_at'] as Date;
  expect(border.getTime() - wanted.getTime()).toBeLessThan(10_000);
  await quiet(suite);
  const stripeId = String((await rowOf(checkout))['stripe_subscription_id']);
  await waitFor(async () => (await view(owner))['billing_period'] !== null && Date.now() > border.getTime());
  return { owner, stripeId, border };
}

/** The border, and the hour for which Stripe leaves the invoice a draft. */
async function stripeCharges(border: Date): Promise<void> {
  await stripesClock(new Date(border.getTime() + 1_000));
  await stripesClock(new Date(border.getTime() + 3_700_000));
}

const blocksOf = ({ account_id }: Owner): Promise<Row[]> =>
  suite.database('payment_blocks').where({ account_id });

/** The card at Stripe from now on. */
const useCard = (stripeId: string, default_payment_method: string) =>
  payments.post(`/v1/subscriptions/${stripeId}`, { default_payment_method });

/** The columns have whole seconds, to which the present would be rounded up. */
async function timeIsOver(account_id: number): Promise<void> {
  const past = new Date(Date.now() - 1_000);
  await suite.database('payment_blocks').where({ account_id }).update({ grace_at: past, blocks_at: past });
}

/** The hosted page of the open invoice, on which the customer pays. */
async function payInvoice({ browser }: Owner): Promise<void> {
  const { body } = await browser.request('GET', '/invoices');
  const open = (body['invoices'] as Row[]).find(({ state }) => state === 'open');
  const link = await browser.request('POST', `/invoices/${String(open?.['invoice_id'])}/link`);
  await fetch(String(link.body['url']), {
    method: 'POST',
    body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
  });
}

describe('subscribing', () => {
  test('starts the plan once it is paid; the trial goes on until then', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const period_id = await insertPeriod(suite.database, owner.account_id, {
      description: { points_limit: 10 },
    });
    await suite.database('sign_up_plans').insert({
      account_id: owner.account_id,
      settled_at: new Date(),
      period_id,
    });
    const checkout = await checkOut(owner, plan_id);
    expect(checkout.state).toBe('open');
    expect((await view(owner))['billing_period']).toMatchObject({ period_id, is_trial: true });
    await pay(checkout);
    await becomes(checkout, 'started');
    expect(await view(owner)).toMatchObject({
      status: 'active',
      billing_period: { plan_id, is_trial: false },
      subscription: { plan_id, billing_interval: 'month' },
      payments: { has_portal: true, due: null },
    });
    const [trial, paid] = await periodsOf(owner);
    expect(Number(paid?.['started_at']) - Number(trial?.['ended_at'])).toBe(1_000);
    await quiet(suite);
    const { body } = await owner.browser.request('GET', '/invoices');
    expect(body['invoices']).toMatchObject([
      { state: 'paid', currency: 'eur', total: 4_900, has_failed: false },
    ]);
    expect(suite.faults()).toEqual([]);
  });

  test('by several clicks at once opens one page; another plan closes it', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const all = await Promise.all([1, 2, 3, 4].map(() => checkOut(owner, plan_id)));
    expect(new Set(all.map(sessionOf)).size).toBe(1);
    await checkOut(owner, await newPlan());
    const [first] = all;
    if (first === undefined) throw new Error('nothing was begun');
    await becomes(first, 'expired');
  });

  test('with a declined card starts nothing, and the page can still be paid', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const checkout = await checkOut(owner, plan_id);
    await pay(checkout, 'pm_card_chargeCustomerFail').catch(() => undefined);
    await quiet(suite);
    expect(await periodsOf(owner)).toEqual([]);
    expect(await rowOf(checkout)).toMatchObject({ state: 'open', subscription_id: null });
    await pay(checkout);
    await becomes(checkout, 'started');
  });

  test('of an account that is being deleted is cancelled and refunded', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const checkout = await checkOut(owner, plan_id);
    const { account_id } = owner;
    const deletion_due_at = new Date(Date.now() + 86_400_000);
    await suite.database('accounts').where({ account_id }).update({ deletion_due_at });
    await pay(checkout);
    await becomes(checkout, 'refused');
    await quiet(suite);
    expect(await periodsOf(owner)).toEqual([]);
  });

  test('starts once, whatever the number and order of events', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    await payments.post('/sample/deliveries', { hold: 'true', copies: '3' });
    const checkout = await checkOut(owner, plan_id);
    await pay(checkout);
    await payments.post('/sample/deliveries', { hold: 'false' });
    await payments.post('/sample/deliveries/release', { order: 'reversed' });
    await becomes(checkout, 'started');
    await quiet(suite);
    expect(await periodsOf(owner)).toHaveLength(1);
    const { account_id } = owner;
    expect(await suite.database('subscriptions').where({ account_id })).toHaveLength(1);
    expect(await suite.database('invoices').where({ account_id })).toHaveLength(1);
  });

  test('that the database has forgotten starts from what Stripe keeps', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const checkout = await checkOut(owner, plan_id);
    await suite.database('stripe_subscriptions').where({ checkout_id: checkout.checkout_id }).delete();
    await pay(checkout);
    await statusBecomes(owner, 'active');
    const { account_id } = owner;
    expect(await suite.database('stripe_subscriptions').where({ account_id })).toMatchObject([
      { state: 'started', plan_id, amount: 4_900 },
    ]);
  });

  test('at a price that is withdrawn can not be paid on a page that is open', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const checkout = await checkOut(owner, plan_id);
    const price = { currency: 'eur', unit_amount: 5_900 };
    await done(suite.account, 'PUT', `/private/plans/${String(plan_id)}/prices/month`, price);
    await becomes(checkout, 'expired');
    await pay(checkout);
    expect(await periodsOf(owner)).toEqual([]);
    expect((await rowOf(await checkOut(owner, plan_id)))['amount']).toBe(5_900);
  });

  test('at a price that was withdrawn while it is paid is honoured as it was sold', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const checkout = await checkOut(owner, plan_id);
    await payments.post('/sample/outage', { on: 'true' });
    await done(suite.account, 'DELETE', `/private/plans/${String(plan_id)}/prices/month`);
    await payments.post('/sample/outage', { on: 'false' });
    expect(await rowOf(checkout)).toMatchObject({ state: 'open' });
    await pay(checkout);
    await becomes(checkout, 'started');
    await quiet(suite);
    const { body } = await owner.browser.request('GET', '/invoices');
    expect(body['invoices']).toMatchObject([{ state: 'paid', total: 4_900 }]);
  });

  test('twice is cancelled and refunded the second time', async () => {
    const { data: before } = (await stripeOf('/refunds')) as { data: Row[] };
    const [owner, plan_id] = [await newOwner(suite), await newPlan()];
    const first = await checkOut(owner, plan_id);
    // The page was paid before it could be closed.
    await suite
      .database('stripe_subscriptions')
      .where({ checkout_id: first.checkout_id })
      .update({ session_id: null });
    const second = await checkOut(owner, await newPlan());
    await pay(second);
    await becomes(second, 'started');
    await pay(first);
    await becomes(first, 'refused');
    await quiet(suite);
    const id = String((await rowOf(first))['stripe_subscription_id']);
    expect(await stripeOf(`/subscriptions/${id}`)).toMatchObject({ status: 'canceled' });
    const { data } = (await stripeOf('/refunds')) as { data: Row[] };
    expect(data.slice(0, data.length - before.length)).toMatchObject([
      { amount: 4_900, status: 'succeeded' },
    ]);
    const { account_id } = owner;
    expect(await suite.database('payment_issues').where({ account_id })).toMatchObject([
      { kind: 'subscription_not_started', object_id: id },
    ]);
    expect(await periodsOf(owner)).toHaveLength(1);
  });

  test('is refused where it would have to be undone', async () => {
    const plan_id = await newPlan();
    const wanted = { plan_id, billing_interval: 'month' };
    const code = async ({ browser }: Owner, body: unknown = wanted) =>
      (await browser.request('POST', '/subscription/checkout', body)).body['code'];
    const { owner } = await newSubscriber();
    expect(await code(owner)).toBe('subscription_exists');
    const sold = await newOwner(suite);
    await insertPeriod(suite.database, sold.account_id, {});
    expect(await code(sold)).toBe('periods_overlap');
    const free = await newOwner(suite);
    expect(await code(free, { plan_id, billing_interval: 'year' })).toBe('plan_not_offered');
    // A paid plan is never given for nothing.
    const path = '/subscription';
    const direct = await free.browser.request('POST', path, { ...wanted, period_id: null });
    expect(direct.body['code']).toBe('plan_not_offered');
  });
});

describe('a free plan', () => {
  /** Of 0 points, at a price of 0. */
  async function newFreePlan(): Promise<number> {
    const plan_id = await newPlan();
    const path = `/private/plans/${String(plan_id)}`;
    await done(suite.account, 'PATCH', path, { description: { points_limit: 0 } });
    const price = { currency: 'eur', unit_amount: 0 };
    await done(suite.account, 'PUT', `${path}/prices/month`, price);
    return plan_id;
  }

  const subscribe = async ({ browser }: Owner, plan_id: number, period_id: unknown = null) =>
    browser.request('POST', '/subscription', { plan_id, billing_interval: 'month', period_id });

  test('starts without a payment page, renews without Stripe, and packs can be bought under it', async () => {
    const [owner, plan_id] = [await newOwner(suite), await newFreePlan()];
    const { body } = await owner.browser.request('GET', '/plans');
    expect((body['plans'] as Row[]).find((plan) => plan['plan_id'] === plan_id)).toMatchObject({
      is_free: true,
      prices: { month: 'Free', year: null },
    });
    const checkout = { plan_id, billing_interval: 'month' };
    const refused = await owner.browser.request('POST', '/subscription/checkout', checkout);
    expect(refused.body['code']).toBe('plan_not_offered');
    expect((await subscribe(owner, plan_id)).status).toBe(201);
    expect(await view(owner)).toMatchObject({
      status: 'active',
      subscription: { plan_id },
      payments: { is_checkout: true, has_portal: false },
    });
    const { account_id } = owner;
    const renews_at = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 300_000);
    const ended_at = new Date(+renews_at - 1_000);
    await suite.database('billing_periods').where({ account_id }).update({ ended_at });
    const due = { renews_at, next_attempt_at: new Date() };
    await suite.database('subscriptions').where({ account_id }).update(due);
    await waitFor(async () => (await periodsOf(owner)).length === 2, { what: 'the renewal' });
    expect(await blocksOf(owner)).toEqual([]);
    const pack_id = await newPack(suite);
    const bought = await buy(owner, pack_id);
    await payments.post(`/sample/sessions/${bought.checkout_url.split('/').at(-1) ?? ''}/pay`);
    const granted = () => suite.database('credit_grants').where({ account_id });
    await waitFor(async () => (await granted()).length === 1, { what: 'the points' });
    const limits = (await view(owner))['billing_period'] as { limits: Row };
    expect(limits.limits['points_limit']).toBe(POINTS);
    expect((await done<Row>(suite.account, 'POST', '/private/payments/sync'))['plan_prices']).toBeDefined();
    const price = await suite.database('plan_prices').where({ plan_id, withdrawn_at: null }).first<Row>();
    expect(price).toMatchObject({ unit_amount: 0, stripe_price_id: null });
  });

  test('is replaced by one that is paid at once, and follows that when it has ended', async () => {
    const [owner, free, paid] = [await newOwner(suite), await newFreePlan(), await newPlan()];
    await subscribe(owner, free);
    expect((await subscribe(owner, free)).body['code']).toBe('subscription_exists');
    await waitFor(async () => Date.now() > Number((await periodsOf(owner))[0]?.['started_at']) + 2_000);
    const checkout = await checkOut(owner, paid);
    await pay(checkout);
    await becomes(checkout, 'started');
    expect(await view(owner)).toMatchObject({
      subscription: { plan_id: paid },
      payments: { is_checkout: false },
    });
    const period_id = (await periodsOf(owner)).at(-1)?.['period_id'];
    const wanted = { plan_id: free, billing_interval: 'month', period_id, effective: 'period_end' };
    const path = '/subscription/change-plan';
    const atOnce = await owner.browser.request('POST', path, { ...wanted, effective: 'now' });
    expect(atOnce.body['code']).toBe('plan_change_not_immediate');
    const upgrade = `/subscription/upgrade?plan_id=${String(free)}&billing_interval=month`;
    expect((await owner.browser.request('GET', upgrade)).body['code']).toBe('plan_not_offered');
    const follow = async () => {
      expect((await owner.browser.request('POST', path, wanted)).status).toBe(200);
      expect(await view(owner)).toMatchObject({
        subscription: { plan_id: paid, cancel_at_period_end: true, following: { plan_id: free } },
      });
    };
    await follow();
    await owner.browser.request('POST', '/subscription/resume');
    expect(await view(owner)).toMatchObject({
      subscription: { cancel_at_period_end: false, following: null },
    });
    await follow();
    await quiet(suite);
    // Its last second is now, which isn't its first.
    await hasLastedASecond(suite.database, Number(period_id));
    const { account_id } = owner;
    const renews_at = new Date(Math.ceil(Date.now() / 1_000) * 1_000);
    const ended_at = new Date(+renews_at - 1_000);
    await suite.database('billing_periods').where({ period_id }).update({ ended_at });
    const due = { renews_at, next_attempt_at: new Date() };
    await suite.database('subscriptions').where({ account_id, ended_at: null }).update(due);
    await waitFor(async () => (await periodsOf(owner)).at(-1)?.['plan_id'] === free, {
      what: 'the free plan to start',
    });
    expect(await view(owner)).toMatchObject({
      status: 'active',
      subscription: { plan_id: free, cancel_at_period_end: false, following: null },
      payments: { is_checkout: true },
    });
    const live = await suite.database('subscriptions').where({ account_id, ended_at: null });
    expect(live).toHaveLength(1);
  });

  test('that an operator has changed is theirs to charge', async () => {
    const [owner, free] = [await newOwner(suite), await newFreePlan()];
    await subscribe(owner, free);
    const { account_id } = owner;
    const { subscription_id } = await suite.database('subscriptions').where({ account_id }).first<Row>();
    const path = `/private/subscriptions/${String(subscription_id)}/change-plan`;
    await done(suite.account, 'POST', path, { plan_id: await newPlan(), effective: 'now' });
    const wanted = { plan_id: await newPlan(), billing_interval: 'month' };
    const refused = await owner.browser.request('POST', '/subscription/checkout', wanted);
    expect(refused.body['code']).toBe('subscription_exists');
  });

  test('is one by the month only', async () => {
    const path = `/private/plans/${String(await newPlan())}/prices/year`;
    const { status } = await operatePath(suite.account, 'PUT', path, { currency: 'eur', unit_amount: 0 });
    expect(status).toBe(400);
    const low = { currency: 'eur', unit_amount: 49 };
    expect((await operatePath(suite.account, 'PUT', path, low)).status).toBe(400);
  });
});

describe('a renewal', () => {
  test('opens the period before it is paid, and is settled by the invoice', async () => {
    const { owner, border } = await newRenewal();
    expect(await view(owner)).toMatchObject({ status: 'active', payments: { due: null } });
    expect(await blocksOf(owner)).toMatchObject([
      { reason: 'renewal', blocks_at: new Date(border.getTime() + GRACE_SEC * 1_000) },
    ]);
    await stripeCharges(border);
    await waitFor(async () => (await blocksOf(owner)).length === 0, { what: 'the period to be paid' });
    expect(await view(owner)).toMatchObject({ status: 'active', payments: { due: null } });
    const { body } = await owner.browser.request('GET', '/invoices');
    expect(body['invoices']).toMatchObject([{ state: 'paid' }, { state: 'paid' }]);
    expect(suite.faults()).toEqual([]);
  });

  test('is settled by its invoice, however many items that has taken along', async () => {
    const { owner, stripeId, border } = await newRenewal();
    const { customer } = await stripeOf(`/subscriptions/${stripeId}`);
    const item = { customer: String(customer), currency: 'eur', amount: '10' };
    for (let count = 0; count < 12; count += 1) await payments.post('/v1/invoiceitems', item);
    expect(await blocksOf(owner)).toHaveLength(1);
    await stripeCharges(border);
    await waitFor(async () => (await blocksOf(owner)).length === 0, { what: 'the renewal to be settled' });
  });

  test('that is not paid is followed by no other one until it is', async () => {
    const { owner } = await newRenewal();
    const soon = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 300_000);
    const { account_id } = owner;
    /** The next period is due to be opened. */
    const endSoon = async (subscription: { account_id: number }) => {
      const current = suite.database('billing_periods').where(subscription).orderBy('started_at', 'desc');
      const { period_id } = await current.first<Row>();
      await suite
        .database('billing_periods')
        .where({ period_id })
        .update({ ended_at: new Date(+soon - 1_000) });
      const due = { renews_at: soon, next_attempt_at: new Date() };
      await suite.database('subscriptions').where(subscription).update(due);
    };
    await endSoon({ account_id });
    // Another one, which is due later, is renewed meanwhile.
    const other = await newOwner(suite);
    await done(suite.account, 'POST', '/private/subscriptions', {
      account_id: other.account_id,
      plan_id: await newPlan(),
      billing_interval: 'month',
    });
    await endSoon({ account_id: other.account_id });
    await waitFor(async () => (await periodsOf(other)).length === 2, { what: 'the other renewal' });
    expect(await periodsOf(owner)).toHaveLength(2);
    // As its invoice does, whose time ends in the period that the test has shortened.
    await suite.database('payment_blocks').where({ account_id }).delete();
    await waitFor(async () => (await periodsOf(owner)).length === 3, { what: 'the next period' });
  });

  test('whose event never came is settled by reconciling', async () => {
    const { owner, border } = await newRenewal();
    await payments.post('/sample/deliveries', { hold: 'true' });
    await stripeCharges(border);
    expect(await blocksOf(owner)).toHaveLength(1);
    await done(suite.account, 'POST', '/private/payments/reconcile', {});
    expect(await blocksOf(owner)).toEqual([]);
  });

  test('whose plan an operator changes before it is paid is settled by the invoice all the same', async () => {
    const { owner, border } = await newRenewal();
    const { account_id } = owner;
    const { subscription_id } = await suite.database('subscriptions').where({ account_id }).first<Row>();
    await done(suite.account, 'POST', `/private/subscriptions/${String(subscription_id)}/change-plan`, {
      plan_id: await newPlan('year'),
      billing_interval: 'year',
      effective: 'now',
    });
    expect(await blocksOf(owner)).toHaveLength(1);
    await stripeCharges(border);
    await waitFor(async () => (await blocksOf(owner)).length === 0, { what: 'the period to be paid' });
  });

  test('that fails leads to grace, then blocks; a payment lifts it at once', async () => {
    const { owner, stripeId, border } = await newRenewal();
    await useCard(stripeId, 'pm_card_chargeCustomerFail');
    await stripeCharges(border);
    await statusBecomes(owner, 'grace');
    expect(await entitlementOf(owner)).toMatchObject({ status: 'grace' });
    expect((await view(owner))['payments']).toMatchObject({
      due: { blocks_at: new Date(border.getTime() + GRACE_SEC * 1_000).toISOString() },
    });
    const { account_id } = owner;
    const mail = await nthMail(suite.mailDirectory, owner.email);
    expect(mail.subject).toContain('Your payment failed');
    // The time is over.
    await timeIsOver(account_id);
    expect(await entitlementOf(owner)).toMatchObject({
      status: 'blocked',
      pay_url: expect.stringContaining('/user/plan'),
    });
    await payInvoice(owner);
    await statusBecomes(owner, 'active');
    expect(await entitlementOf(owner)).not.toHaveProperty('pay_url');
    expect(await blocksOf(owner)).toEqual([]);
    expect(mailsTo(suite.mailDirectory, owner.email)).toHaveLength(1);
  });

  test('by debit has three days for the final word of the bank', async () => {
    const { owner, stripeId, border } = await newRenewal();
    const graceAt = async () => Number((await blocksOf(owner))[0]?.['grace_at']) - border.getTime();
    expect(await graceAt()).toBe(24 * 3_600_000);
    // As if a day had passed until Stripe tries.
    const past = new Date(Date.now() - 1_000);
    await suite.database('payment_blocks').where({ account_id: owner.account_id }).update({ grace_at: past });
    expect((await view(owner))['status']).toBe('grace');
    await useCard(stripeId, 'pm_sepa_debit');
    await stripeCharges(border);
    await statusBecomes(owner, 'active');
    expect(await graceAt()).toBe(72 * 3_600_000);
    const { latest_invoice } = await stripeOf(`/subscriptions/${stripeId}`);
    const settle = (outcome: string) =>
      payments.post(`/sample/invoices/${String(latest_invoice)}/settle`, { outcome });
    expect(mailsTo(suite.mailDirectory, owner.email)).toHaveLength(0);
    await settle('failed');
    await statusBecomes(owner, 'grace');
    expect((await nthMail(suite.mailDirectory, owner.email)).subject).toContain('Your payment failed');
    await payInvoice(owner);
    await statusBecomes(owner, 'active');
  });

  test('by debit is paid once the bank says so', async () => {
    const { owner, stripeId, border } = await newRenewal();
    await useCard(stripeId, 'pm_sepa_debit');
    await stripeCharges(border);
    await quiet(suite);
    expect(await blocksOf(owner)).toHaveLength(1);
    const { latest_invoice } = await stripeOf(`/subscriptions/${stripeId}`);
    await payments.post(`/sample/invoices/${String(latest_invoice)}/settle`, { outcome: 'succeeded' });
    await waitFor(async () => (await blocksOf(owner)).length === 0, { what: 'the period to be paid' });
    expect(mailsTo(suite.mailDirectory, owner.email)).toHaveLength(0);
  });

  test("leaves an operator's block, and the reverse", async () => {
    const { owner, stripeId, border } = await newRenewal();
    const path = `/private/accounts/${String(owner.account_id)}`;
    await useCard(stripeId, 'pm_card_chargeCustomerFail');
    await stripeCharges(border);
    await statusBecomes(owner, 'grace');
    const { account_id } = owner;
    await timeIsOver(account_id);
    await done(suite.account, 'POST', `${path}/block`);
    await done(suite.account, 'POST', `${path}/unblock`);
    expect((await view(owner))['status']).toBe('blocked');
    await done(suite.account, 'POST', `${path}/block`);
    await payInvoice(owner);
    await waitFor(async () => (await blocksOf(owner)).length === 0);
    expect(await entitlementOf(owner)).toMatchObject({ status: 'blocked' });
    expect(await entitlementOf(owner)).not.toHaveProperty('pay_url');
    await done(suite.account, 'POST', `${path}/unblock`);
    await statusBecomes(owner, 'active');
  });

  test('that is blocked can be postponed by an operator', async () => {
    const { owner } = await newRenewal();
    const { account_id } = owner;
    await timeIsOver(account_id);
    expect((await view(owner))['status']).toBe('blocked');
    const until = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 86_400_000).toISOString();
    const path = `/private/accounts/${String(account_id)}/payment-block/postpone`;
    await operatePath(suite.account, 'POST', path, { until: until.replace('.000', '') });
    expect((await view(owner))['status']).toBe('grace');
  });
});

test('a plan that became larger starts anew at the end of the period only, even if it is the present one', async () => {
  const { owner, plan_id } = await newSubscriber();
  const description = { points_limit: 50_000 };
  await operatePath(suite.account, 'PATCH', `/private/plans/${String(plan_id)}`, { description });
  const [period] = await periodsOf(owner);
  const wanted = { plan_id, billing_interval: 'month', effective: 'now', period_id: period?.['period_id'] };
  const { status, body } = await owner.browser.request('POST', '/subscription/change-plan', wanted);
  expect([status, body['code']]).toEqual([409, 'plan_change_not_immediate']);
});

describe('an end', () => {
  test('that the customer plans, and its undoing, reach Stripe', async () => {
    const { owner, stripeId } = await newSubscriber();
    await owner.browser.request('POST', '/subscription/cancel');
    await quiet(suite);
    expect(await stripeOf(`/subscriptions/${stripeId}`)).toMatchObject({ cancel_at_period_end: true });
    await owner.browser.request('POST', '/subscription/resume');
    await quiet(suite);
    expect(await stripeOf(`/subscriptions/${stripeId}`)).toMatchObject({ cancel_at_period_end: false });
  });

  test('that is planned in the portal is taken over, and so is its undoing', async () => {
    const { owner, stripeId } = await newSubscriber();
    const planned = async () => ((await view(owner))['subscription'] as Row)['cancel_at_period_end'];
    await payments.post(`/v1/subscriptions/${stripeId}`, { cancel_at_period_end: 'true' });
    await waitFor(async () => (await planned()) === true);
    await quiet(suite);
    await payments.post(`/v1/subscriptions/${stripeId}`, { cancel_at_period_end: 'false' });
    await waitFor(async () => (await planned()) === false);
  });

  test('at Stripe ends the period now, without grace, and another plan can be bought', async () => {
    const { owner, stripeId } = await newSubscriber();
    const response = await fetch(`${payments.url}/v1/subscriptions/${stripeId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
    });
    expect(response.status).toBe(200);
    await statusBecomes(owner, 'expired');
    expect((await view(owner))['subscription']).toBeNull();
    await checkOut(owner, await newPlan());
  });

  test('by an operator cancels at Stripe', async () => {
    const { stripeId, checkout } = await newSubscriber();
    const id = String((await rowOf(checkout))['subscription_id']);
    await done(suite.account, 'POST', `/private/subscriptions/${id}/cancel`, { effective: 'now' });
    await quiet(suite);
    expect(await stripeOf(`/subscriptions/${stripeId}`)).toMatchObject({ status: 'canceled' });
  });
});

describe('a deleted account', () => {
  test('is erased once Stripe has ended its subscription', async () => {
    const { owner, stripeId } = await newSubscriber();
    const { account_id } = owner;
    const deletion_due_at = new Date(Date.now() + 86_400_000);
    await suite.database('accounts').where({ account_id }).update({ deletion_due_at });
    const path = `/private/accounts/${String(account_id)}/deletion/carry-out`;
    expect(await done(suite.account, 'POST', path)).toMatchObject({ erased_at: null });
    await quiet(suite);
    expect(await stripeOf(`/subscriptions/${stripeId}`)).toMatchObject({ status: 'canceled' });
    expect(await done(suite.account, 'POST', path)).toMatchObject({
      erased_at: expect.any(String) as unknown,
    });
  });

  test('gets back what Stripe charges after the erasure, and operators see it', async () => {
    const { owner, border } = await newRenewal();
    const { account_id } = owner;
    await suite.database('accounts').where({ account_id }).update({ erased_at: new Date() });
    await stripeCharges(border);
    const issues = () => suite.database('payment_issues').where({ account_id });
    await waitFor(async () => (await issues()).length > 0, { what: 'the refund to be reported' });
    // Stripe tells of the refund, too.
    await quiet(suite);
    expect(await issues()).toMatchObject([
      { kind: 'late_payment_refunded', object_id: expect.stringMatching(/^pi_/), details: { amount: 4_900 } },
    ]);
    const [{ object_id }] = (await issues()) as [{ object_id: string }];
    expect(await stripeOf(`/refunds?payment_intent=${object_id}`)).toMatchObject({
      data: [{ amount: 4_900, status: 'succeeded' }],
    });
    expect(suite.faults()).toEqual([]);
  });
});

test("a change at the period's end is charged from the next invoice on, and none takes effect now", async () => {
  const { owner, stripeId, checkout } = await newSubscriber();
  const plan_id = await newPlan();
  const period_id = (await periodsOf(owner))[0]?.['period_id'];
  const wanted = { plan_id, billing_interval: 'month', period_id };
  const path = '/subscription/change-plan';
  const now = await owner.browser.request('POST', path, { ...wanted, effective: 'now' });
  expect(now.body['code']).toBe('plan_change_not_immediate');
  const later = await owner.browser.request('POST', path, { ...wanted, effective: 'period_end' });
  expect(later.body['subscription']).toMatchObject({ pending: { plan_id } });
  // The renewal applies it, minutes before the border.
  const { subscription_id } = await rowOf(checkout);
  await suite
    .database('subscriptions')
    .where({ subscription_id })
    .update({ plan_id, pending_plan_id: null, pending_interval: null });
  await quiet(suite);
  const { items } = (await stripeOf(`/subscriptions/${stripeId}`)) as { items: { data: { price: Row }[] } };
  const price = await suite.database('plan_prices').where({ plan_id }).first<Row>();
  expect(items.data[0]?.price['id']).toBe(price['stripe_price_id']);
});

test('sync makes the prices and the portal at Stripe, once', async () => {
  await newPlan();
  const sync = () => done<Row>(suite.account, 'POST', '/private/payments/sync');
  const [first, second] = [await sync(), await sync()];
  expect(second['portal_configuration_id']).toBe(first['portal_configuration_id']);
  const sold = suite.database('plan_prices').whereNull('withdrawn_at').andWhere('unit_amount', '>', 0);
  expect(await sold.whereNull('stripe_price_id')).toEqual([]);
});

test('the portal is for those who have paid, and for a first card', async () => {
  const { owner } = await newSubscriber();
  const { body } = await owner.browser.request('POST', '/payments/portal');
  expect((await fetch(String(body['url']))).status).toBe(200);
  const other = await newOwner(suite);
  expect((await other.browser.request('POST', '/payments/portal')).status).toBe(200);
});
