import { expect } from '@jest/globals';
import type Stripe from 'stripe';
import { idOf } from '../../src/payments/stripe/values.ts';
import { done } from '../suite/billing.ts';
import { newOwner } from '../suite/console.ts';
import type { Owner } from '../suite/console.ts';
import { borderAt } from './border.ts';
import type { Border } from './border.ts';
import { PROFILE } from './clean-up.ts';
import type { ProfiledAccount } from './profiled-account.ts';

export type Row = Record<string, unknown>;

export const AMOUNT = 4_900;

/** 100 points, and further ones at 5.00 for 1,000. */
export const OVERAGE = { price_per_1000: 500, currency: 'eur' };
const DESCRIPTION = { points_limit: 100, overage: OVERAGE };

/** Whose subscription is renewed soon, by a test clock of its own. */
export type Subscriber = Owner & {
  border: Border;
  clock: string;
  customer: string;
  stripeId: string;
  period_id: number;
};

let plans = 0;

async function newPlan({ account }: ProfiledAccount, { billing_interval }: Border): Promise<number> {
  plans += 1;
  const plan = { name: `Profile ${String(plans)}`, description: DESCRIPTION };
  const { plan_id } = await done<{ plan_id: number }>(account, 'POST', '/private/plans', plan);
  const path = `/private/plans/${String(plan_id)}`;
  await done(account, 'POST', `${path}/publish`, { public_position: plans, price_month: 'see the page' });
  const price = { currency: 'eur', unit_amount: AMOUNT };
  await done(account, 'PUT', `${path}/prices/${billing_interval}`, price);
  return plan_id;
}

/**
 * account opens the page of the subscription at Stripe, whose form only a person can fill in. So the subscription is made
 * by Stripe's API, with what the page would have given it, for a customer on a test clock.
 */
export async function newSubscriber(profiled: ProfiledAccount): Promise<Subscriber> {
  const { database, target, pace, made, until } = profiled;
  const { stripe } = target;
  const owner = await newOwner(profiled);
  const border = borderAt(Math.ceil(Date.now() / 1_000) + pace.leadSec);
  const plan_id = await newPlan(profiled, border);
  const wanted = { plan_id, billing_interval: border.billing_interval };
  const { status, text, body } = await owner.browser.request('POST', '/subscription/checkout', wanted);
  if (status !== 201) throw new Error(text);
  const row = () => database('stripe_subscriptions').where({ checkout_id: body['checkout_id'] }).first<Row>();
  const page = await stripe.checkout.sessions.retrieve(String((await row())['session_id']));
  expect(page).toMatchObject({ status: 'open', amount_total: AMOUNT, currency: 'eur' });
  const customerOfPage = idOf(page.customer) ?? '';
  made.customers.add(customerOfPage);
  await stripe.customers.update(customerOfPage, { metadata: { made_by: PROFILE } });
  const { account_id, email } = owner;
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: border.startedAt, name: PROFILE });
  made.clocks.add(clock.id);
  const { id: customer } = await stripe.customers.create({
    email,
    test_clock: clock.id,
    metadata: { account_id: String(account_id) },
  });
  await database('stripe_customers').where({ account_id }).update({ customer_id: customer });
  const price = await database('plan_prices').where({ plan_id }).first<Row>();
  const { id: stripeId } = await stripe.subscriptions.create({
    customer,
    items: [{ price: String(price['stripe_price_id']) }],
    default_payment_method: await attach(stripe, customer, 'pm_card_visa'),
    metadata: page.metadata ?? {},
  });
  await until(async () => (await row())['state'] === 'started', 'the plan to start');
  await stripe.checkout.sessions.expire(page.id);
  const periods = () =>
    database('billing_periods').where({ account_id }).orderBy('started_at').pluck<number[]>('period_id');
  await until(async () => (await periods()).length === 2, 'the next period to be open');
  const [period_id = 0] = await periods();
  return { ...owner, border, clock: clock.id, customer, stripeId, period_id };
}

/** Stripe's test cards are methods without a customer. Its id as the customer's. */
export async function attach(stripe: Stripe, customer: string, method: string): Promise<string> {
  return (await stripe.paymentMethods.attach(method, { customer })).id;
}

/** Test accounts whose debit arrives, or doesn't, after three minutes (docs.stripe.com/testing). */
const IBANS = { succeeded: 'AT321904300235473204', failed: 'AT051904300235473205' };

/** An account at a bank, with the mandate that charging it without the customer needs. */
export async function attachDebit(
  stripe: Stripe,
  customer: string,
  email: string,
  outcome: keyof typeof IBANS,
): Promise<string> {
  const method = await stripe.paymentMethods.create({
    type: 'sepa_debit',
    sepa_debit: { iban: IBANS[outcome] },
    billing_details: { name: 'Profile', email },
  });
  await stripe.setupIntents.create({
    customer,
    payment_method: method.id,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    mandate_data: {
      customer_acceptance: { type: 'online', online: { ip_address: '127.0.0.1', user_agent: PROFILE } },
    },
  });
  return method.id;
}

/** The card or bank account from now on. */
export async function useMethod(
  { target: { stripe } }: ProfiledAccount,
  { stripeId }: Subscriber,
  default_payment_method: string,
): Promise<void> {
  await stripe.subscriptions.update(stripeId, { default_payment_method });
}

/** To so many seconds after the border. Returns once Stripe has done all that is due by then. */
export async function advanceClock(
  { target: { stripe }, until }: ProfiledAccount,
  { clock, border }: Subscriber,
  secondsAfter: number,
): Promise<void> {
  const frozen_time = border.renewsAt + secondsAfter;
  await stripe.testHelpers.testClocks.advance(clock, { frozen_time });
  await until(async () => {
    const { status } = await stripe.testHelpers.testClocks.retrieve(clock);
    if (status === 'internal_failure') throw new Error('Stripe failed to move the test clock');
    return status === 'ready';
  }, 'Stripe to move its test clock');
}

/** Once there is one. */
export function renewalInvoice(
  { target: { stripe }, until }: ProfiledAccount,
  { stripeId }: Subscriber,
): Promise<Stripe.Invoice> {
  return until(async () => {
    const { latest_invoice } = await stripe.subscriptions.retrieve(stripeId, { expand: ['latest_invoice'] });
    if (typeof latest_invoice !== 'object') throw new Error('the invoice is not expanded');
    return latest_invoice?.billing_reason === 'subscription_cycle' ? latest_invoice : undefined;
  }, 'the invoice of the renewal');
}
