import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import type { Invoice, SubscriptionStatus } from '../objects/billing.ts';
import { applyPendingUpdate } from './changes.ts';

export function onInvoicePaid(double: Double, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  if (id !== undefined) applyPendingUpdate(double, double.store.get('subscription', id), invoice);
  changeStatus(double, invoice, 'active');
}

export function onInvoiceUnpaid(double: Double, invoice: Invoice): void {
  // A first invoice that isn't paid leaves the subscription incomplete, and a change that isn't leaves it as it was.
  if (invoice.billing_reason === 'subscription_cycle') changeStatus(double, invoice, 'past_due');
}

/** The subscription that an invoice belongs to. */
export function subscriptionOf(invoice: Invoice): string | undefined {
  return invoice.parent?.subscription_details.subscription;
}

function changeStatus(double: Double, invoice: Invoice, status: SubscriptionStatus): void {
  const id = subscriptionOf(invoice);
  if (id === undefined) return;
  const subscription = double.store.get('subscription', id);
  if (subscription.status === status || ['canceled', 'trialing'].includes(subscription.status)) return;
  const previous = { status: subscription.status };
  subscription.status = status;
  emit(double, 'customer.subscription.updated', subscription, previous);
}

/** A change that waited for an invoice that won't be paid any more. */
export function dropPendingUpdate(double: Double, invoice: Invoice): void {
  const id = subscriptionOf(invoice);
  if (id === undefined) return;
  const subscription = double.store.get('subscription', id);
  if (subscription.latest_invoice === invoice.id) subscription.pending_update = null;
}
