import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { SAMPLE_SECRET_KEY } from '@tollgate/testbed/payments/sample-payments';
import { done } from '../../../test/suite/billing.ts';
import { operatePath } from '../../../test/suite/operator.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { leaveTest, quiet as settled, startPaidAccount } from '../../../test/suite/payments.ts';
import type { PaidAccount } from '../../../test/suite/payments.ts';
import { joinTeam, makeTeam } from '../../../test/suite/team.ts';

/** Team slots as the second item of a subscription that Stripe charges. */

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

type Offer = {
  points_limit?: number;
  included?: number;
  most?: number;
  slot?: number | null;
  interval?: string;
};

/** €49 a period with 3 slots, and up to 10 for €5 each. */
async function newPlan({
  points_limit = 5_000,
  included = 3,
  most = 10,
  slot = 500,
  interval = 'month',
}: Offer = {}): Promise<number> {
  plans += 1;
  const description = { points_limit, team_slots_limit: included };
  const { plan_id } = await done<{ plan_id: number }>(suite.account, 'POST', '/private/plans', {
    name: `Plan ${String(plans)}`,
    description,
  });
  const path = `/private/plans/${String(plan_id)}`;
  await done(suite.account, 'POST', `${path}/publish`, {
    public_position: plans,
    price_month: 'none',
    team_slots_max: most,
    team_slot_price: 'none',
  });
  const unit_amount = interval === 'month' ? 4_900 : 49_000;
  await done(suite.account, 'PUT', `${path}/prices/${interval}`, { currency: 'eur', unit_amount });
  if (slot !== null) {
    const price = { currency: 'eur', unit_amount: slot };
    await done(suite.account, 'PUT', `${path}/team-slot-prices/${interval}`, price);
  }
  return plan_id;
}

type Subscriber = Owner & { plan_id: number; stripeId: string; subscription_id: number };

async function newSubscriber(offer: Offer = {}): Promise<Subscriber> {
  const [owner, plan_id] = [await newOwner(suite), await newPlan(offer)];
  const { body } = await owner.browser.request('POST', '/subscription/checkout', {
    plan_id,
    billing_interval: 'month',
  });
  const { checkout_id, checkout_url } = body as { checkout_id: number; checkout_url: string };
  await suite.payments.post(`/sample/sessions/${checkout_url.split('/').at(-1) ?? ''}/pay`, {});
  const row = async () => suite.database('stripe_subscriptions').where({ checkout_id }).first<Row>();
  await waitFor(async () => (await row())['state'] === 'started', { what: 'the plan to start' });
  const { stripe_subscription_id, subscription_id } = await row();
  const subscriber = { ...owner, plan_id, stripeId: String(stripe_subscription_id) };
  await quiet();
  return { ...subscriber, subscription_id: Number(subscription_id) };
}

const quiet = () => settled(suite);

type Price = { period_id: number; amount: number };

async function priceOf({ browser }: Owner, team_slots_limit: number): Promise<Price> {
  const path = `/subscription/team-slots?team_slots_limit=${String(team_slots_limit)}`;
  const { status, text, body } = await browser.request('GET', path);
  if (status !== 200) throw new Error(text);
  return body as Price;
}

const buy = ({ browser }: Owner, team_slots_limit: number, { period_id, amount }: Price) =>
  browser.request('POST', '/subscription/team-slots', { team_slots_limit, period_id, amount });

const bought = async (owner: Owner, team_slots_limit: number) =>
  buy(owner, team_slots_limit, await priceOf(owner, team_slots_limit));

const release = ({ browser }: Owner, team_slots_limit: number) =>
  browser.request('PUT', '/subscription/team-slots', { team_slots_limit });

const slotsOf = async ({ browser }: Owner) =>
  (await browser.request('GET', '/subscription')).body['team_slots'] as Row;

const becomes = (owner: Owner, wanted: Row) =>
  waitFor(
    async () => {
      const slots = await slotsOf(owner);
      return Object.entries(wanted).every(([name, value]) => slots[name] === value);
    },
    { what: `the slots to be ${JSON.stringify(wanted)}` },
  );

async function stripeOf(path: string): Promise<Row> {
  const response = await fetch(`${suite.payments.url}/v1${path}`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return (await response.json()) as Row;
}

type Item = { id: string; quantity: number; price: { unit_amount: number; recurring: Row } };

/** The plan's item first. */
async function itemsOf({ stripeId }: Subscriber): Promise<Item[]> {
  const { items } = (await stripeOf(`/subscriptions/${stripeId}`)) as { items: { data: Item[] } };
  return [...items.data].sort((one, other) => other.price.unit_amount - one.price.unit_amount);
}

const quantitiesOf = async (subscriber: Subscriber) =>
  (await itemsOf(subscriber)).map(({ quantity }) => quantity);

async function charged({ stripeId }: Subscriber): Promise<Row[]> {
  const { data } = (await stripeOf('/invoices?limit=100')) as { data: Row[] };
  return data.filter(({ billing_reason, parent }) => {
    const { subscription_details } = (parent ?? {}) as { subscription_details?: { subscription: string } };
    return billing_reason === 'subscription_update' && subscription_details?.subscription === stripeId;
  });
}

const periodOf = async ({ account_id }: Owner) =>
  suite.database('billing_periods').where({ account_id }).orderBy('started_at', 'desc').first<Row>();

describe('a price in another currency', () => {
  const usd = (unit_amount: number) => ({ currency: 'usd', unit_amount });

  test('is refused for slots of a plan that has a price', async () => {
    const path = `/private/plans/${String(await newPlan())}/team-slot-prices/month`;
    const { status, body } = await operatePath(suite.account, 'PUT', path, usd(500));
    expect([status, body['errors']]).toEqual([
      400,
      [{ field: 'currency', message: 'must be eur, which the plan is sold in' }],
    ]);
  });

  test('is refused for a plan whose slots have a price, until that is withdrawn', async () => {
    const path = `/private/plans/${String(await newPlan())}`;
    const { status, body } = await operatePath(suite.account, 'PUT', `${path}/prices/month`, usd(4_900));
    expect([status, body['errors']]).toEqual([
      400,
      [
        {
          field: 'currency',
          message: "must be eur, which the plan's team slots are sold in, or withdraw their price first",
        },
      ],
    ]);
    await done(suite.account, 'DELETE', `${path}/team-slot-prices/month`);
    await done(suite.account, 'PUT', `${path}/prices/month`, usd(4_900));
  });

  test('is none for who pays in euros: neither of a plan nor of its slots', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 5);
    await becomes(subscriber, { limit: 5 });
    const { period_id } = await periodOf(subscriber);
    const change = async (plan_id: number) =>
      subscriber.browser.request('POST', '/subscription/change-plan', {
        plan_id,
        billing_interval: 'month',
        effective: 'period_end',
        period_id,
      });
    const planned = await newPlan({ slot: null });
    const path = `/private/plans/${String(planned)}`;
    // As a former version took it.
    const slot = { plan_id: planned, billing_interval: 'month', ...usd(500), tax_behavior: 'exclusive' };
    await suite.database('team_slot_prices').insert(slot);
    expect((await change(planned)).body).toMatchObject({
      code: 'plan_not_offered',
      detail: 'The plan sells no additional team slots. Release yours first.',
    });
    await done(suite.account, 'PUT', `${path}/prices/month`, usd(3_900));
    expect((await change(planned)).body).toMatchObject({
      code: 'plan_not_offered',
      detail: expect.stringContaining('another currency'),
    });
  });
});

describe('more slots', () => {
  test('are charged for the rest of the period, and can be used at once', async () => {
    const subscriber = await newSubscriber();
    expect(await slotsOf(subscriber)).toMatchObject({
      limit: 3,
      max: 10,
      price: '€5.00 per month, plus tax',
      is_charged: true,
      pending_limit: null,
    });
    const price = await priceOf(subscriber, 5);
    expect(price).toMatchObject({ currency: 'eur', decimals: 2 });
    // The period has just begun.
    expect(price.amount).toBeGreaterThan(980);
    expect(price.amount).toBeLessThanOrEqual(1_000);
    const { status, body } = await buy(subscriber, 5, price);
    expect([status, body]).toEqual([200, { state: 'paid', payment_url: null }]);
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 5, least: 3 });
    expect(await periodOf(subscriber)).toMatchObject({ team_slots_limit: 5, plan_id: subscriber.plan_id });
    expect(await quantitiesOf(subscriber)).toEqual([1, 2]);
    await quiet();
    expect(await charged(subscriber)).toMatchObject([{ status: 'paid', amount_paid: price.amount }]);
    expect((await bought(subscriber, 6)).body['state']).toBe('paid');
    expect(await quantitiesOf(subscriber)).toEqual([1, 3]);
    const about = { account_id: subscriber.account_id, action: 'team_slots_purchase_begun' };
    expect(await suite.database('audit_log').where(about).orderBy('audit_id')).toMatchObject([
      { details: { team_slots_limit: 5, amount: price.amount, currency: 'eur' } },
      { details: { team_slots_limit: 6 } },
    ]);
    expect(suite.faults()).toEqual([]);
  });

  test('by several clicks at once are charged once', async () => {
    const subscriber = await newSubscriber();
    const price = await priceOf(subscriber, 5);
    await Promise.all([1, 2, 3].map(() => buy(subscriber, 5, price)));
    await becomes(subscriber, { limit: 5 });
    await quiet();
    expect(await charged(subscriber)).toHaveLength(1);
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 5 });
  });

  test('of another amount than was confirmed are refused, and nothing is charged', async () => {
    const subscriber = await newSubscriber();
    const price = await priceOf(subscriber, 5);
    const path = `/private/plans/${String(subscriber.plan_id)}/team-slot-prices/month`;
    await done(suite.account, 'PUT', path, { currency: 'eur', unit_amount: 900 });
    expect((await buy(subscriber, 5, price)).body['code']).toBe('amount_changed');
    expect(await charged(subscriber)).toEqual([]);
    expect(await quantitiesOf(subscriber)).toEqual([1]);
  });

  test('with a declined card are there once the invoice is paid', async () => {
    const subscriber = await newSubscriber();
    const declined = { default_payment_method: 'pm_card_chargeCustomerFail' };
    await suite.payments.post(`/v1/subscriptions/${subscriber.stripeId}`, declined);
    const { body } = await bought(subscriber, 5);
    expect(body).toMatchObject({ state: 'payment_required', payment_url: expect.anything() });
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 3 });
    await fetch(String(body['payment_url']), {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
    });
    await becomes(subscriber, { limit: 5 });
    expect(await charged(subscriber)).toMatchObject([{ status: 'paid' }]);
  });

  test('whose events were lost are found by reconciling', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 4);
    await quiet();
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    const [, slots] = await itemsOf(subscriber);
    // As if the process had died between the charge and its effect.
    await suite.payments.post(`/v1/subscriptions/${subscriber.stripeId}`, {
      'items[0][id]': String(slots?.id),
      'items[0][quantity]': '4',
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    });
    await done(suite.account, 'POST', '/private/payments/reconcile', {});
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 7 });
  });

  test('that are bought again within the hour are charged again', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 5);
    await becomes(subscriber, { limit: 5 });
    const [, slots] = await itemsOf(subscriber);
    await suite.payments.post(`/v1/subscriptions/${subscriber.stripeId}`, {
      'items[0][id]': String(slots?.id),
      'items[0][quantity]': '1',
      proration_behavior: 'none',
    });
    await becomes(subscriber, { limit: 5, pending_limit: 4 });
    await quiet();
    // Stripe is asked for the same quantity as before.
    expect((await bought(subscriber, 6)).body['state']).toBe('paid');
    await becomes(subscriber, { limit: 6, pending_limit: null });
    expect(await quantitiesOf(subscriber)).toEqual([1, 2]);
    expect(await charged(subscriber)).toHaveLength(2);
  });

  test('that an operator has given and taken again can be bought', async () => {
    const subscriber = await newSubscriber();
    const path = `/private/subscriptions/${String(subscriber.subscription_id)}/team-slots`;
    const give = (team_slots_limit: number) => done(suite.account, 'POST', path, { team_slots_limit });
    await bought(subscriber, 5);
    await becomes(subscriber, { limit: 5 });
    await give(6);
    expect((await bought(subscriber, 7)).body['state']).toBe('paid');
    await becomes(subscriber, { limit: 7 });
    expect(await quantitiesOf(subscriber)).toEqual([1, 3]);
    expect(await charged(subscriber)).toHaveLength(2);
  });

  test('are refused where they are not sold', async () => {
    const codeOf = async ({ browser }: Owner, slots: number) => {
      const { body } = await browser.request(
        'GET',
        `/subscription/team-slots?team_slots_limit=${String(slots)}`,
      );
      return body['code'];
    };
    const unpriced = await newSubscriber({ slot: null });
    expect(await slotsOf(unpriced)).toMatchObject({ max: 3, price: null });
    expect(await codeOf(unpriced, 5)).toBe('plan_not_offered');
    const subscriber = await newSubscriber();
    expect(await codeOf(subscriber, 3)).toBe('invalid_request');
    expect(await codeOf(subscriber, 11)).toBe('invalid_request');
    expect(await codeOf(await newOwner(suite), 5)).toBe('not_found');
    // Not without paying.
    expect((await release(subscriber, 5)).body['code']).toBe('plan_not_offered');
    await subscriber.browser.request('POST', '/subscription/cancel');
    expect(await codeOf(subscriber, 5)).toBe('plan_change_not_immediate');
  });
});

describe('fewer slots', () => {
  test("are released at the period's end, and not charged from then on", async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 7);
    await quiet();
    expect((await release(subscriber, 4)).body['team_slots']).toMatchObject({ limit: 7, pending_limit: 4 });
    await quiet();
    expect(await quantitiesOf(subscriber)).toEqual([1, 4]);
    await endPeriodSoon(subscriber);
    await waitFor(async () => (await periodOf(subscriber))['team_slots_limit'] === 4, {
      what: 'the next period to have fewer slots',
    });
    await waitFor(async () => (await quantitiesOf(subscriber))[1] === 1, { what: 'Stripe to charge fewer' });
    await quiet();
    expect(await charged(subscriber)).toHaveLength(1);
    expect(await quantitiesOf(subscriber)).toEqual([1, 1]);
    expect(
      await suite.database('stripe_subscriptions').where({ account_id: subscriber.account_id }),
    ).toMatchObject([{ slots: 1, slots_changed: false }]);
  });

  test('are released once, also if the answer from Stripe was lost', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 7);
    await becomes(subscriber, { limit: 7 });
    await release(subscriber, 4);
    await endPeriodSoon(subscriber);
    await waitFor(async () => (await quantitiesOf(subscriber))[1] === 1, { what: 'Stripe to charge fewer' });
    await quiet();
    const row = suite.database('stripe_subscriptions').where({ account_id: subscriber.account_id });
    // As if the process had died before it heard so.
    await suite.payments.post('/sample/deliveries', { hold: 'true' });
    await row.clone().update({ slots: 4, slots_changed: true, next_attempt_at: new Date() });
    await waitFor(async () => (await row.clone().whereNull('next_attempt_at')).length === 1, {
      what: 'the release to be told',
    });
    expect(await row.clone()).toMatchObject([{ slots: 1, slots_changed: false }]);
    expect(await quantitiesOf(subscriber)).toEqual([1, 1]);
  });

  test('are kept when the release is revoked, or more are bought', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 7);
    await quiet();
    await release(subscriber, 3);
    expect((await release(subscriber, 7)).body['team_slots']).toMatchObject({
      limit: 7,
      pending_limit: null,
    });
    await quiet();
    await release(subscriber, 5);
    await bought(subscriber, 8);
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 8, pending_limit: null });
    await quiet();
    expect(await quantitiesOf(subscriber)).toEqual([1, 5]);
  });

  test('are at least those that are taken, or that an operator has added', async () => {
    const subscriber = await newSubscriber();
    const { subscription_id } = subscriber;
    const path = `/private/subscriptions/${String(subscription_id)}/team-slots`;
    await done(suite.account, 'POST', path, { team_slots_limit: 5 });
    await bought(subscriber, 7);
    expect(await quantitiesOf(subscriber)).toEqual([1, 2]);
    expect((await release(subscriber, 4)).status).toBe(400);
    await makeTeam(subscriber);
    const members = await Promise.all([1, 2, 3, 4, 5].map(() => newOwner(suite)));
    await joinTeam(subscriber, ...members);
    expect((await release(subscriber, 5)).status).toBe(400);
    expect((await release(subscriber, 6)).status).toBe(200);
  });

  test("of Stripe's dashboard are released at the period's end", async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 6);
    await quiet();
    const [, slots] = await itemsOf(subscriber);
    await suite.payments.post(`/v1/subscriptions/${subscriber.stripeId}`, {
      'items[0][id]': String(slots?.id),
      'items[0][quantity]': '1',
      proration_behavior: 'none',
    });
    await becomes(subscriber, { limit: 6, pending_limit: 4 });
  });
});

describe('a change of plan', () => {
  test('takes the slots along, at its own price, less those that it includes', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 7);
    await quiet();
    const plan_id = await newPlan({ points_limit: 50_000, included: 5, slot: 700 });
    await upgrade(subscriber, plan_id);
    await waitFor(async () => (await periodOf(subscriber))['plan_id'] === plan_id, { what: 'the plan' });
    await quiet();
    expect(await slotsOf(subscriber)).toMatchObject({ included: 5, limit: 7, pending_limit: null });
    expect((await itemsOf(subscriber)).map(({ quantity, price }) => [quantity, price.unit_amount])).toEqual([
      [1, 4_900],
      [2, 700],
    ]);
  });

  test('to a year, or to a plan with as many slots of its own, changes or drops their item', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 5);
    await quiet();
    const year = await newPlan({ included: 3, slot: 5_000, interval: 'year' });
    await upgrade(subscriber, year, 'year');
    await waitFor(async () => (await periodOf(subscriber))['plan_id'] === year, { what: 'the year' });
    await quiet();
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 5, price: '€50.00 per year, plus tax' });
    const items = await itemsOf(subscriber);
    expect(items.map(({ price, quantity }) => [price.recurring['interval'], quantity])).toEqual([
      ['year', 1],
      ['year', 2],
    ]);
    const wide = await newPlan({ points_limit: 50_000, included: 8, interval: 'year' });
    await upgrade(subscriber, wide, 'year');
    await waitFor(async () => (await periodOf(subscriber))['plan_id'] === wide, { what: 'the plan' });
    await quiet();
    expect(await quantitiesOf(subscriber)).toEqual([1]);
    expect(await slotsOf(subscriber)).toMatchObject({ limit: 8, pending_limit: null });
  });

  test('to one that includes fewer is refused while there are some: they would be free', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 5);
    await quiet();
    const fewer = await newPlan({ points_limit: 50_000, included: 1 });
    const path = `/subscription/upgrade?plan_id=${String(fewer)}&billing_interval=month`;
    expect((await subscriber.browser.request('GET', path)).body['code']).toBe('plan_not_offered');
    const smaller = await newPlan({ points_limit: 1_000, included: 1 });
    expect((await planFor(subscriber, smaller)).body['code']).toBe('plan_not_offered');
  });

  test('to one that sells no slots is refused while there are some', async () => {
    const subscriber = await newSubscriber();
    await bought(subscriber, 5);
    await quiet();
    const larger = await newPlan({ points_limit: 50_000, slot: null });
    const path = `/subscription/upgrade?plan_id=${String(larger)}&billing_interval=month`;
    expect((await subscriber.browser.request('GET', path)).body['code']).toBe('plan_not_offered');
    const smaller = await newPlan({ points_limit: 1_000, slot: null });
    expect((await planFor(subscriber, smaller)).body['code']).toBe('plan_not_offered');
  });
});

/** A change at the period's end. */
const planFor = async (subscriber: Subscriber, plan_id: number) =>
  subscriber.browser.request('POST', '/subscription/change-plan', {
    plan_id,
    billing_interval: 'month',
    effective: 'period_end',
    period_id: (await periodOf(subscriber))['period_id'],
  });

async function upgrade({ browser }: Owner, plan_id: number, billing_interval = 'month'): Promise<void> {
  const path = `/subscription/upgrade?plan_id=${String(plan_id)}&billing_interval=${billing_interval}`;
  const { period_id, amount } = (await browser.request('GET', path)).body;
  const wanted = { plan_id, billing_interval, period_id, amount };
  const { status, text } = await browser.request('POST', '/subscription/upgrade', wanted);
  if (status !== 200) throw new Error(text);
}

/** The next period is opened ahead. */
async function endPeriodSoon({ subscription_id }: Subscriber): Promise<void> {
  const renews_at = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 300_000);
  const ended_at = new Date(renews_at.getTime() - 1_000);
  await suite.database('billing_periods').where({ subscription_id }).update({ ended_at });
  const changed = { anchor: renews_at, renews_at, next_attempt_at: new Date() };
  await suite.database('subscriptions').where({ subscription_id }).update(changed);
}
