import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { Failure, invalid } from '../http/failure.ts';
import { newInvoice, newSubscription } from '../objects/billing.ts';
import type { Invoice, InvoiceLine, Subscription } from '../objects/billing.ts';
import type { Metadata, Price } from '../objects/catalogue.ts';
import type { PaymentMethod } from '../objects/payments.ts';
import { applyItems, deferItems, prorate } from './changes.ts';
import type { ItemChange } from './changes.ts';
import { methodOf } from './confirm.ts';
import { addInterval } from './intervals.ts';
import { pay } from './invoices.ts';
import { subscriptionOf } from './subscription-status.ts';
import { atTimeOf } from './time-of.ts';

/** Stripe finalizes a draft that advances by itself an hour after it made it (docs.stripe.com/invoicing/integration). */
export const DRAFT_SEC = 3_600;

export function startSubscription(
  double: Double,
  wanted: {
    customer: string;
    items: { price: Price; quantity: number }[];
    default_payment_method: string | null;
    metadata: Metadata;
  },
): Subscription {
  const { store, clock } = double;
  const now = clock.now();
  const interval = wanted.items[0]?.price.recurring?.interval ?? 'month';
  const period = { start: now, end: addInterval(now, interval, now) };
  const { test_clock } = store.get('customer', wanted.customer);
  const subscription = store.add(newSubscription({ ...wanted, created: now, period, test_clock }));
  emit(double, 'customer.subscription.created', subscription);
  const invoice = invoiceFor(double, subscription, 'subscription_create');
  payQuietly(double, invoice);
  return subscription;
}

/** Everything that is due by the clock: renewals, drafts that are an hour old, ends. */
export function advanceSubscriptions(double: Double): void {
  const { store } = double;
  for (const subscription of store.all('subscription').reverse()) {
    const there = atTimeOf(double, subscription.customer);
    while (isLive(subscription) && endOf(subscription) <= there.clock.now()) {
      if (subscription.cancel_at_period_end) cancel(there, subscription, 'cancellation_requested');
      else renew(there, subscription);
    }
  }
  for (const invoice of store.all('invoice').reverse()) {
    const there = atTimeOf(double, invoice.customer);
    const due = invoice.automatically_finalizes_at;
    if (invoice.status !== 'draft' || due === null || due > there.clock.now()) continue;
    payQuietly(there, invoice);
  }
}

/** Nothing that was subscribed until now is renewed, and no event tells of it: suites move the clock by years. */
export function forgetSubscriptions({ store }: Double): void {
  for (const subscription of store.all('subscription').filter(isLive)) subscription.status = 'canceled';
}

/** A declined card is told by events. */
function payQuietly(double: Double, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  const method =
    id === undefined ? payerOf(double, invoice) : payerOf(double, double.store.get('subscription', id));
  try {
    pay(double, invoice, method);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

function renew(double: Double, subscription: Subscription): void {
  const start = endOf(subscription);
  if (subscription.status === 'trialing') subscription.status = 'active';
  for (const item of subscription.items.data) {
    const interval = item.price.recurring?.interval ?? 'month';
    item.current_period_start = start;
    item.current_period_end = addInterval(start, interval, subscription.billing_cycle_anchor);
  }
  emit(double, 'customer.subscription.updated', subscription, {
    latest_invoice: subscription.latest_invoice,
  });
  const invoice = invoiceFor(double, subscription, 'subscription_cycle');
  invoice.automatically_finalizes_at = invoice.created + DRAFT_SEC;
}

function invoiceFor(
  double: Double,
  subscription: Subscription,
  billing_reason: 'subscription_create' | 'subscription_cycle',
): Invoice {
  const pending = pendingItems(double, subscription.customer, subscription.currency);
  const sold = subscription.items.data.map((item) => ({
    amount: item.price.unit_amount * item.quantity,
    description: `${String(item.quantity)} × ${double.store.get('product', item.price.product).name}`,
    period: { start: item.current_period_start, end: item.current_period_end },
    metadata: subscription.metadata,
    price: item.price,
    subscription: subscription.id,
  }));
  const invoice = double.store.add(draftOf(double, subscription, billing_reason, [...pending, ...sold]));
  for (const item of pending) item.invoice = invoice.id;
  subscription.latest_invoice = invoice.id;
  emit(double, 'invoice.created', invoice);
  return invoice;
}

/** Items that wait for the customer's next invoice. */
export function pendingItems({ store }: Double, customer: string, currency: string | undefined) {
  return store
    .all('invoiceitem')
    .filter(
      (item) =>
        item.customer === customer &&
        item.invoice === null &&
        (currency === undefined || item.currency === currency),
    );
}

function draftOf(
  { clock }: Double,
  subscription: Subscription,
  billing_reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update',
  lines: InvoiceLine[],
): Invoice {
  return newInvoice({
    created: clock.now(),
    customer: subscription.customer,
    currency: subscription.currency,
    billing_reason,
    lines,
    subscription: subscription.id,
    subscriptionMetadata: subscription.metadata,
    auto_advance: true,
    test_clock: subscription.test_clock,
  });
}

/** What a change would be charged with now, and items that wait with it. Nothing of it is kept. */
export function previewChange(
  double: Double,
  subscription: Subscription,
  changes: readonly ItemChange[],
  at: number,
): Invoice {
  const { lines } = prorate(double, subscription, changes, at);
  const pending = pendingItems(double, subscription.customer, subscription.currency);
  return draftOf(double, subscription, 'subscription_update', [...lines, ...pending]);
}

/** Charges a change now; it takes effect once that is paid. */
export function chargeChange(
  double: Double,
  subscription: Subscription,
  changes: readonly ItemChange[],
  at: number,
): void {
  const prorated = prorate(double, subscription, changes, at);
  deferItems(double, subscription, prorated);
  invoiceChange(double, subscription, prorated.lines);
}

/** Charges a change, which takes effect whether that is paid or not. */
export function changeAndCharge(
  double: Double,
  subscription: Subscription,
  changes: readonly ItemChange[],
  at: number,
): void {
  const prorated = prorate(double, subscription, changes, at);
  applyItems(double, subscription, prorated);
  invoiceChange(double, subscription, prorated.lines);
}

/** With items that wait. */
function invoiceChange(double: Double, subscription: Subscription, lines: readonly InvoiceLine[]): void {
  const pending = pendingItems(double, subscription.customer, subscription.currency);
  const all = [...lines, ...pending];
  const invoice = double.store.add(draftOf(double, subscription, 'subscription_update', all));
  for (const item of pending) item.invoice = invoice.id;
  subscription.latest_invoice = invoice.id;
  emit(double, 'invoice.created', invoice);
  payQuietly(double, invoice);
}

/** A change that isn't charged: the next invoice has it. */
export function changeItems(
  double: Double,
  subscription: Subscription,
  changes: readonly ItemChange[],
): void {
  applyItems(double, subscription, prorate(double, subscription, changes, double.clock.now()));
}

/**
 * A change whose first charge is at that time: until then it is a trial, which an invoice states, with items that wait.
 * @throws {Failure} if it isn't in the future
 */
export function changeAt(
  double: Double,
  subscription: Subscription,
  changes: readonly ItemChange[],
  end: number,
): void {
  const { store, clock } = double;
  const start = clock.now();
  if (end <= start) throw invalid('`trial_end` must be in the future.', { param: 'trial_end' });
  const { items } = prorate(double, subscription, changes, start);
  for (const item of items) Object.assign(item, { current_period_start: start, current_period_end: end });
  Object.assign(subscription, { status: 'trialing', trial_start: start, trial_end: end });
  applyItems(double, subscription, { items, anchor: end });
  const trial = subscription.items.data.map(({ price }) => ({
    amount: 0,
    description: `Trial period for ${store.get('product', price.product).name}`,
    period: { start, end },
    metadata: subscription.metadata,
    price,
    subscription: subscription.id,
  }));
  invoiceChange(double, subscription, trial);
}

export function cancel(double: Double, subscription: Subscription, reason: string): Subscription {
  const now = double.clock.now();
  subscription.status = 'canceled';
  subscription.canceled_at ??= now;
  subscription.ended_at = now;
  subscription.cancellation_details.reason = reason;
  emit(double, 'customer.subscription.deleted', subscription);
  return subscription;
}

/** For what the customer pays from now on. */
export function useCard(double: Double, customer: string, method: PaymentMethod): void {
  method.customer = customer;
  emit(double, 'payment_method.attached', method);
  const owner = double.store.get('customer', customer);
  owner.invoice_settings.default_payment_method = method.id;
  emit(double, 'customer.updated', owner);
  for (const subscription of double.store.all('subscription')) {
    if (subscription.customer === customer) subscription.default_payment_method = method.id;
  }
}

function payerOf(
  double: Double,
  { customer, default_payment_method }: Pick<Subscription | Invoice, 'customer' | 'default_payment_method'>,
) {
  return default_payment_method === null
    ? defaultMethodOf(double, customer)
    : methodOf(double, default_payment_method);
}

function defaultMethodOf(double: Double, customer: string): PaymentMethod | null {
  const { default_payment_method } = double.store.get('customer', customer).invoice_settings;
  return default_payment_method === null ? null : methodOf(double, default_payment_method);
}

/** It can't become live any more. */
export function isOver({ status }: Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

function isLive({ status }: Subscription): boolean {
  return status === 'active' || status === 'trialing' || status === 'past_due';
}

function endOf(subscription: Subscription): number {
  return subscription.items.data[0]?.current_period_end ?? Infinity;
}
