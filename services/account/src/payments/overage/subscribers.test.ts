import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { done } from '../../../test/suite/billing.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { cutsResolved } from '../../../test/suite/credits.ts';
import { insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { mailsTo, nthMail } from '../../../test/suite/people.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import { eraseDue } from '../../lifecycle/deletion/erase.ts';
import { createTransact } from '../../platform/database/query.ts';
import { createLockInstant } from '../../counting/stream/lock-instant.ts';
import { chargeAgain, setCharged } from './store.ts';
import { leaveTest, newBuyer, quiet, startPaidAccount } from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';

/** Points beyond the included ones of those whose plan Stripe charges. */

let suite: PaidAccount;

beforeAll(async () => {
  suite = await startPaidAccount({ CLOSING_DELAY_SEC: '0' });
});

afterAll(() => suite.close());

afterEach(() => leaveTest(suite));

type Row = Record<string, unknown>;

/** 100 points, and further ones at 5.00 for 1,000. */
const PRICE = { price_per_1000: 500, currency: 'eur' };

let plans = 0;

async function newPlan(): Promise<number> {
  plans += 1;
  const description = { points_limit: 100, team_slots_limit: 3, overage: PRICE };
  const made = { name: `Overage ${String(plans)}`, description };
  const { plan_id } = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', made);
  const path = `/private/plans/${String(plan_id)}`;
  await done(suite.account, 'POST', `${path}/publish`, {
    public_position: plans,
    price_month: 'none',
    team_slots_max: 10,
    team_slot_price: 'none',
  });
  await done(suite.account, 'PUT', `${path}/prices/month`, { currency: 'eur', unit_amount: 4_900 });
  await done(suite.account, 'PUT', `${path}/team-slot-prices/month`, { currency: 'eur', unit_amount: 500 });
  return plan_id;
}

type Subscriber = Owner & { subscription_id: number; stripeId: string; period_id: number };

async function newSubscriber(plan_id: number): Promise<Subscriber> {
  const owner = await newOwner(suite);
  const wanted = { plan_id, billing_interval: 'month' };
  const { body } = await owner.browser.request('POST', '/subscription/checkout', wanted);
  const { checkout_id, checkout_url } = body as { checkout_id: number; checkout_url: string };
  await suite.payments.post(`/sample/sessions/${checkout_url.split('/').at(-1) ?? ''}/pay`, {});
  const row = async () => suite.database('stripe_subscriptions').where({ checkout_id }).first<Row>();
  await waitFor(async () => (await row())['state'] === 'started', { what: 'the plan to start' });
  await quiet(suite);
  const { stripe_subscription_id, subscription_id } = await row();
  const period = await suite
    .database('billing_periods')
    .where({ subscription_id })
    .first<{ period_id: number }>();
  return {
    ...owner,
    subscription_id: Number(subscription_id),
    stripeId: String(stripe_subscription_id),
    period_id: period.period_id,
  };
}

const put = ({ browser }: Owner, choice: Row) => browser.request('PUT', '/overage', choice);

/** As closed periods leave them: 100 points by default. */
async function charge(
  { account_id }: Owner,
  period_id: number,
  { suffix = '', points = 100, amount = 50 } = {},
): Promise<void> {
  const about = { period_id, account_id };
  await suite
    .database('period_overages')
    .insert({ ...about, ...PRICE })
    .onConflict()
    .ignore();
  const charge_key = `overage:${String(period_id)}${suffix}`;
  await suite.database('overage_charges').insert({ ...about, charge_key, points, amount });
}

type Made = { stripe_item_id: string | null; stripe_invoice_id: string | null };

/** Without corrections, which follow at the closing as nothing was used. */
const chargesOf = ({ account_id }: Owner) =>
  suite
    .database('overage_charges')
    .where({ account_id })
    .where('points', '>', 0)
    .select<Made[]>('stripe_item_id', 'stripe_invoice_id');

/** The invoice that all of them are on. */
async function invoicedFor(owner: Owner): Promise<string> {
  const ids = await waitFor(
    async () => {
      const found = (await chargesOf(owner)).map(({ stripe_invoice_id }) => stripe_invoice_id);
      return found.every((id) => id !== null) ? found : undefined;
    },
    { what: 'all items to be on an invoice' },
  );
  expect(new Set(ids).size).toBe(1);
  return String(ids[0]);
}

async function stripeOf(path: string): Promise<Row> {
  const response = await fetch(`${suite.payments.url}/v1${path}`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return (await response.json()) as Row;
}

test('the catalogue says what further points cost, and nothing of plans that sell none', async () => {
  const [selling, other] = [await newPlan(), await newPlan()];
  const description = { points_limit: 100, team_slots_limit: 3 };
  await operatePath(suite.account, 'PATCH', `/private/plans/${String(other)}`, { description });
  const { browser } = await newOwner(suite);
  const { plans: offered } = (await browser.request('GET', '/plans')).body as { plans: Row[] };
  const overageOf = (id: number) => offered.find(({ plan_id }) => plan_id === id)?.['overage'];
  expect(overageOf(selling)).toEqual({ ...PRICE, decimals: 2 });
  expect(overageOf(other)).toBeNull();
});

test('what waits for the next invoice is on one of its own once the subscription has ended', async () => {
  const subscriber = await newSubscriber(await newPlan());
  const { period_id, subscription_id } = subscriber;
  await charge(subscriber, period_id);
  await charge(subscriber, period_id, { suffix: ':2', points: 40, amount: 20 });
  await waitFor(
    async () => (await chargesOf(subscriber)).every(({ stripe_item_id }) => stripe_item_id !== null),
    { what: 'the items to be made' },
  );
  expect(await chargesOf(subscriber)).toMatchObject([
    { stripe_invoice_id: null },
    { stripe_invoice_id: null },
  ]);
  const path = `/private/subscriptions/${String(subscription_id)}/cancel`;
  await done(suite.account, 'POST', path, { effective: 'now' });
  const invoice = await stripeOf(`/invoices/${await invoicedFor(subscriber)}`);
  expect(invoice).toMatchObject({ billing_reason: 'manual', total: 70, auto_advance: true });
});

test('what waits is part of the amount of a change that is charged at once, and is charged with it only', async () => {
  const subscriber = await newSubscriber(await newPlan());
  const { browser, period_id, subscription_id } = subscriber;
  const priceOf = async () => {
    const { body } = await browser.request('GET', `/subscription/team-slots?team_slots_limit=5`);
    return body as { amount: number; period_id: number };
  };
  const buying = ({ amount, period_id: id }: { amount: number; period_id: number }) =>
    browser.request('POST', '/subscription/team-slots', { team_slots_limit: 5, period_id: id, amount });
  const before = await priceOf();
  await charge(subscriber, period_id);
  const made = async () => (await chargesOf(subscriber))[0]?.stripe_item_id ?? undefined;
  const item = await waitFor(made, { what: 'the item to be made' });
  const price = await priceOf();
  expect(price.amount).toBe(before.amount + 50);
  const stale = await buying(before);
  expect(stale.body['code']).toBe('amount_changed');
  expect((await buying(price)).status).toBe(200);
  await quiet(suite);
  const items = (await stripeOf('/invoiceitems?limit=100'))['data'] as Row[];
  const invoice = String(items.find(({ id }) => id === item)?.['invoice']);
  expect(await stripeOf(`/invoices/${invoice}`)).toMatchObject({
    billing_reason: 'subscription_update',
    total: price.amount,
    status: 'paid',
  });
  const path = `/private/subscriptions/${String(subscription_id)}/cancel`;
  await done(suite.account, 'POST', path, { effective: 'now' });
  expect(await invoicedFor(subscriber)).toBe(invoice);
});

test('what a change took along that is never paid is charged with the next invoice', async () => {
  const subscriber = await newSubscriber(await newPlan());
  const { browser, period_id, subscription_id, stripeId } = subscriber;
  await charge(subscriber, period_id);
  const itemOf = async () => (await chargesOf(subscriber))[0]?.stripe_item_id ?? undefined;
  const lost = await waitFor(itemOf, { what: 'the item to be made' });
  const declined = { default_payment_method: 'pm_card_chargeCustomerFail' };
  await suite.payments.post(`/v1/subscriptions/${stripeId}`, declined);
  const path = '/subscription/team-slots';
  const { amount } = (await browser.request('GET', `${path}?team_slots_limit=5`)).body;
  const wanted = { team_slots_limit: 5, period_id, amount };
  const { body } = await browser.request('POST', path, wanted);
  expect(body['state']).toBe('payment_required');
  const unpaid = String((await stripeOf(`/subscriptions/${stripeId}`))['latest_invoice']);
  // As Stripe does after 23 hours.
  await suite.payments.post(`/v1/invoices/${unpaid}/void`, {});
  await waitFor(async () => (await itemOf()) !== lost, { what: 'another item to be made' });
  await quiet(suite);
  expect((await browser.request('GET', `${path}?team_slots_limit=5`)).body['amount']).toBe(amount);
  const cancel = `/private/subscriptions/${String(subscription_id)}/cancel`;
  await done(suite.account, 'POST', cancel, { effective: 'now' });
  const own = await waitFor(
    async () => {
      const [row] = await chargesOf(subscriber);
      return row?.stripe_invoice_id ?? undefined;
    },
    { what: 'the item to be on an invoice' },
  );
  expect(await stripeOf(`/invoices/${own}`)).toMatchObject({ billing_reason: 'manual', total: 50 });
});

test('an item whose invoice is given up while it is stored has another attempt', async () => {
  const { account_id, period_id, subscription_id } = await newSubscriber(await newPlan());
  const about = { account_id, period_id };
  await suite.database('period_overages').insert({ ...about, ...PRICE });
  const claimed = { points: 100, amount: 50, next_attempt_at: secondsFromNow(3_600) };
  const charge_key = `overage:${String(period_id)}`;
  const [{ charge_id } = { charge_id: 0 }] = await suite
    .database('overage_charges')
    .insert({ ...about, ...claimed, charge_key })
    .returning<{ charge_id: number }[]>('charge_id');
  const stripe_invoice_id = `in_given_up_${String(charge_id)}`;
  await suite.database('invoices').insert({
    account_id,
    subscription_id,
    stripe_invoice_id,
    billing_reason: 'subscription_update',
    state: 'void',
    currency: 'eur',
    total: 1_050,
    issued_at: new Date(),
  });
  const made = { item_id: `ii_${String(charge_id)}`, invoice_id: stripe_invoice_id, points: 100, amount: 50 };
  const isDue = await createTransact(suite.database)(async (query) => {
    // Too early: the item isn't known here yet.
    await chargeAgain(query, account_id, stripe_invoice_id);
    await setCharged(query, { charge_id, ...about }, made);
    const rows = await query(
      'SELECT FROM overage_charges WHERE charge_id = :charge_id AND next_attempt_at <= clock_timestamp()',
      { charge_id },
    );
    return rows.length === 1;
  });
  expect(isDue).toBe(true);
});

test('what another subscription owes is on an invoice of its own', async () => {
  const subscriber = await newSubscriber(await newPlan());
  const before = { started_at: secondsFromNow(-3_600 * 24 * 60), ended_at: secondsFromNow(-3_600 * 24 * 30) };
  const period_id = await insertPeriod(suite.database, subscriber.account_id, before);
  await charge(subscriber, period_id);
  expect(await stripeOf(`/invoices/${await invoicedFor(subscriber)}`)).toMatchObject({
    billing_reason: 'manual',
    total: 50,
  });
});

describe('an invoice of its own that is not paid', () => {
  /** With a cap of 1,000, and an invoice that is to be paid. */
  async function newDebtor() {
    const buyer = await newBuyer(suite, { points_limit: 100, overage: PRICE });
    const { body } = await buyer.browser.request('POST', '/payments/portal');
    const saved = new URLSearchParams({ payment_method: 'pm_card_visa' });
    await fetch(String(body['url']), { method: 'POST', body: saved });
    expect((await put(buyer, { cap_points: 1_000, ...PRICE })).status).toBe(200);
    await charge(buyer, buyer.period_id);
    const id = await invoicedFor(buyer);
    const pay = (payment_method: string) =>
      suite.payments.post(`/v1/invoices/${id}/pay`, { payment_method }).catch(() => undefined);
    await suite.payments.post(`/v1/invoices/${id}/finalize`, {});
    const issues = async () => {
      const path = `/private/payments/issues?account_id=${String(buyer.account_id)}`;
      return (await operatePath(suite.account, 'GET', path)).body['issues'];
    };
    const limit = async () => {
      const path = `/private/entitlements/${String(buyer.account_id)}`;
      const answer = (await (await getPrivate(suite.account, path)).json()) as {
        billing_period: { limits: Row };
      };
      return answer.billing_period.limits['points_limit'];
    };
    return { buyer, id, pay, issues, limit };
  }

  test('stops further points until an operator forgives it, by voiding it at Stripe', async () => {
    const { id, pay, issues, limit } = await newDebtor();
    await pay('pm_card_chargeCustomerFail');
    await waitFor(async () => (await limit()) === 100, { what: 'further points to stop' });
    await suite.payments.post(`/v1/invoices/${id}/void`, {});
    await waitFor(async () => (await limit()) === 1_100, { what: 'further points to be back' });
    expect(await issues()).toEqual([]);
  });

  test('is an issue, and stops further points until it is paid', async () => {
    const { buyer, id, pay, issues, limit } = await newDebtor();
    await pay('pm_card_chargeCustomerFail');
    await waitFor(async () => (await limit()) === 100, { what: 'further points to stop' });
    expect(await issues()).toMatchObject([
      { kind: 'overage_unpaid', object_id: id, details: { amount: 50 } },
    ]);
    const mail = await nthMail(suite.mailDirectory, buyer.email, 1);
    expect(mail.subject).toContain('Your payment for further points failed');
    expect(mail.text).toContain('0.50');
    await pay('pm_card_chargeCustomerFail');
    const shown = (await buyer.browser.request('GET', '/overage')).body['overage'];
    expect(shown).toMatchObject({ cap_points: 1_000, stopped_by: 'unpaid', offer: PRICE });
    const refused = await put(buyer, { cap_points: 2_000, ...PRICE });
    expect([refused.status, refused.body['code']]).toEqual([409, 'overage_not_offered']);
    await pay('pm_card_visa');
    await waitFor(async () => (await limit()) === 1_100, { what: 'further points to be back' });
    expect(await issues()).toEqual([]);
    await quiet(suite);
    expect(mailsTo(suite.mailDirectory, buyer.email).map((one) => one.subject)).toEqual([mail.subject]);
    expect(suite.faults()).toEqual([]);
  });
});

test('an account is erased once its last further points are charged', async () => {
  const buyer = await newBuyer(suite, { points_limit: 100, overage: PRICE });
  const { account_id, period_id } = buyer;
  const { body } = await buyer.browser.request('POST', '/payments/portal');
  const saved = new URLSearchParams({ payment_method: 'pm_card_visa' });
  await fetch(String(body['url']), { method: 'POST', body: saved });
  await put(buyer, { cap_points: 1_000, ...PRICE });
  await cutsResolved(suite, account_id);
  await appendBatch(suite.store, [usageEvent({ account_id, payer_id: account_id, period_id, points: 300 })]);
  await put(buyer, { cap_points: 0 });
  await suite.database('accounts').where({ account_id }).update({ deletion_due_at: new Date() });
  const account = suite.database('accounts').where({ account_id });
  const lockInstant = createLockInstant(suite.store);
  await waitFor(
    async () => {
      await createTransact(suite.database)((query) => eraseDue(query, lockInstant, account_id));
      return (await account.clone().whereNotNull('erased_at')).length === 1;
    },
    { what: 'the account to be erased' },
  );
  expect(await suite.database('overage_charges').where({ account_id })).toMatchObject([
    { points: 200, amount: 100, next_attempt_at: null, stripe_invoice_id: expect.any(String) },
  ]);
  // Stripe charges the invoice an hour after it was made: that is owed, and not refunded.
  const { stripe_invoice_id } = await suite
    .database('overage_charges')
    .where({ account_id })
    .first<{ stripe_invoice_id: string }>();
  await suite.payments.post(`/v1/invoices/${stripe_invoice_id}/finalize`, {});
  await suite.payments.post(`/v1/invoices/${stripe_invoice_id}/pay`, {});
  const invoices = suite.database('invoices').where({ stripe_invoice_id });
  await waitFor(async () => (await invoices.clone().where({ state: 'paid' })).length === 1, {
    what: 'the invoice to be paid',
  });
  await quiet(suite);
  const { data } = (await stripeOf(`/invoice_payments?invoice=${stripe_invoice_id}`)) as {
    data: { payment: { payment_intent: string } }[];
  };
  expect(data).toHaveLength(1);
  for (const { payment } of data) {
    expect(await stripeOf(`/refunds?payment_intent=${payment.payment_intent}`)).toMatchObject({ data: [] });
  }
  expect(await suite.database('payment_issues').where({ account_id })).toEqual([]);
});

test('another attempt for the same invoice is the same request, which Stripe may still be doing', async () => {
  const owner = await newSubscriber(await newPlan());
  const { account_id, period_id } = owner;
  const about = { period_id, account_id };
  await suite.database('period_overages').insert({ ...about, ...PRICE });
  const charge_key = `overage:${String(period_id)}`;
  const charge = { ...about, charge_key, points: 100, amount: 50, attempts: 3 };
  await suite.database('overage_charges').insert(charge);
  await waitFor(async () => (await chargesOf(owner))[0]?.stripe_item_id !== null, { what: 'the item' });
  const { data } = (await stripeOf('/events?type=invoiceitem.created&limit=100')) as { data: Row[] };
  const made = data.map(({ data: of, request }) => ({ of, request }) as Created);
  const own = made.filter(({ of }) => of.object.metadata['tollgate_overage'] === charge_key);
  expect(own.map(({ request }) => request.idempotency_key)).toEqual([
    expect.stringMatching(`^[0-9a-f-]{36}:${charge_key}$`),
  ]);
});

type Created = {
  of: { object: { metadata: Row } };
  request: { idempotency_key: string | null };
};

describe('further points in another currency than the plan', () => {
  const other = { ...PRICE, currency: 'usd' };
  const described = (overage: Row | null) => ({
    description: { points_limit: 100, team_slots_limit: 3, ...(overage !== null && { overage }) },
  });

  test('are refused for a plan that has a price', async () => {
    const path = `/private/plans/${String(await newPlan())}`;
    const { status, body } = await operatePath(suite.account, 'PATCH', path, described(other));
    const message = 'its currency must be eur, which the plan is sold in';
    expect([status, body['errors']]).toEqual([400, [{ field: 'description.overage', message }]]);
  });

  test('make its price be refused, until they are removed', async () => {
    const path = `/private/plans/${String(await newPlan())}`;
    await done(suite.account, 'DELETE', `${path}/team-slot-prices/month`);
    const usd = { currency: 'usd', unit_amount: 4_900 };
    const { status, body } = await operatePath(suite.account, 'PUT', `${path}/prices/month`, usd);
    const message =
      "must be eur, which the plan's further points (overage) are sold in, or remove them first";
    expect([status, body['errors']]).toEqual([400, [{ field: 'currency', message }]]);
    await done(suite.account, 'PATCH', path, described(null));
    await done(suite.account, 'PUT', `${path}/prices/month`, usd);
    await done(suite.account, 'PATCH', path, described(other));
  });
});

test('further points are offered in the currency of the subscription only', async () => {
  const other = { ...PRICE, currency: 'usd' };
  const plan_id = await newPlan();
  // As a former version took it.
  const description = JSON.stringify({ points_limit: 100, team_slots_limit: 3, overage: other });
  await suite.database('plans').where({ plan_id }).update({ description });
  const subscriber = await newSubscriber(plan_id);
  const { body } = await subscriber.browser.request('GET', '/overage');
  expect(body['overage']).toMatchObject({ offer: null });
  const refused = await put(subscriber, { cap_points: 100, ...other });
  expect([refused.status, refused.body['code']]).toEqual([409, 'overage_not_offered']);
});
