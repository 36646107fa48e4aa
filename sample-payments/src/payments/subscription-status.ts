import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import type { Invoice, SubscriptionStatus } from '../objects/billing.ts';

export function onInvoicePaid(double: Double, invoice: Invoice): void {
  changeStatus(double, invoice, 'active');
}

export function onInvoiceUnpaid(double: Double, invoice: Invoice): void {
  // A first invoice that isn't paid leaves the subscription incomplete.
  if (invoice.billing_reason !== 'subscription_create') changeStatus(double, invoice, 'past_due');
}

/** The subscription that an invoice belongs to. */
export function subscriptionOf(invoice: Invoice): string | undefined {
  return invoice.parent?.subscription_details.subscription;
}

function changeStatus(double: Double, invoice: Invoice, status: SubscriptionStatus): void {
  const id = subscriptionOf(invoice);
  if (id === undefined) return;
  const subscription = double.store.get('subscription', id);
  if (subscription.status === status || subscription.status === 'canceled') return;
  const previous = { status: subscription.status };
  subscription.status = status;
  emit(double, 'customer.subscription.updated', subscription, previous);
}
