import { z } from 'zod';
import { checkCurrency } from '../currencies.ts';
import { emit } from '../double.ts';
import { invalid } from '../http/failure.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newInvoice, newInvoiceItem } from '../objects/billing.ts';
import { methodOf } from '../payments/confirm.ts';
import { finalize, pay } from '../payments/invoices.ts';
import { cancel, startSubscription } from '../payments/subscriptions.ts';
import { flag, mergeMetadata, metadata, metadataOrNone, whole } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const itemSchema = z.object({
  customer: z.string(),
  amount: whole,
  currency: z.string().optional(),
  description: z.string().optional(),
  metadata: metadata.optional(),
});
const invoiceSchema = z.object({
  customer: z.string(),
  currency: z.string().optional(),
  description: z.string().optional(),
  metadata: metadata.optional(),
  auto_advance: flag.optional(),
  pending_invoice_items_behavior: z.enum(['exclude', 'include']).optional(),
});
const paySchema = z.object({ payment_method: z.string().optional() });
const subscriptionSchema = z.object({
  customer: z.string(),
  items: z.array(z.object({ price: z.string(), quantity: whole.optional() })).min(1),
  default_payment_method: z.string().optional(),
  metadata: metadata.optional(),
});
const subscriptionUpdateSchema = z.object({
  cancel_at_period_end: flag.optional(),
  default_payment_method: z.string().optional(),
  items: z.array(z.object({ id: z.string(), price: z.string() })).optional(),
  proration_behavior: z.literal('none').optional(),
  metadata: metadataOrNone.optional(),
});

export const BILLING: Route[] = [
  route('POST /v1/invoiceitems', ({ double, input }) => {
    const { store, clock } = double;
    const wanted = read(itemSchema, input);
    const customer = store.get('customer', wanted.customer, 'customer');
    const currency = checkCurrency(wanted.currency ?? customer.currency ?? 'usd');
    const item = store.add(newInvoiceItem({ ...wanted, created: clock.now(), currency }));
    emit(double, 'invoiceitem.created', item);
    return item;
  }),
  listRoute('/v1/invoiceitems', 'invoiceitem'),
  route('POST /v1/invoices', ({ double, input }) => {
    const { store, clock } = double;
    const wanted = read(invoiceSchema, input);
    store.get('customer', wanted.customer, 'customer');
    const isIncluding = wanted.pending_invoice_items_behavior === 'include';
    const items = isIncluding
      ? store.all('invoiceitem').filter((item) => item.customer === wanted.customer && item.invoice === null)
      : [];
    const invoice = store.add(
      newInvoice({
        ...wanted,
        created: clock.now(),
        currency: checkCurrency(wanted.currency ?? items[0]?.currency ?? 'usd'),
        billing_reason: 'manual',
        lines: items,
        auto_advance: wanted.auto_advance ?? false,
      }),
    );
    for (const item of items) item.invoice = invoice.id;
    emit(double, 'invoice.created', invoice);
    return invoice;
  }),
  listRoute('/v1/invoices', 'invoice'),
  getRoute('/v1/invoices', 'invoice'),
  route('POST /v1/invoices/{id}/finalize', ({ double, id }) => {
    const invoice = double.store.get('invoice', id);
    if (invoice.status !== 'draft') throw invalid('This invoice is already finalized.');
    finalize(double, invoice);
    return invoice;
  }),
  route('POST /v1/invoices/{id}/pay', ({ double, id, input }) => {
    const { store } = double;
    const invoice = store.get('invoice', id);
    const { default_payment_method } = store.get('customer', invoice.customer).invoice_settings;
    const method = read(paySchema, input).payment_method ?? default_payment_method;
    return pay(double, invoice, method === null ? null : methodOf(double, method));
  }),
  route('POST /v1/invoices/{id}/void', ({ double, id }) => {
    const invoice = double.store.get('invoice', id);
    if (invoice.status !== 'open') throw invalid('You can only void an open invoice.');
    invoice.status = 'void';
    invoice.status_transitions.voided_at = double.clock.now();
    emit(double, 'invoice.voided', invoice);
    return invoice;
  }),
  listRoute('/v1/invoice_payments', 'invoice_payment'),
  route('POST /v1/subscriptions', ({ double, input }) => {
    const { store } = double;
    const wanted = read(subscriptionSchema, input);
    store.get('customer', wanted.customer, 'customer');
    const items = wanted.items.map(({ price: id, quantity = 1 }, index) => {
      const param = `items[${String(index)}][price]`;
      const price = store.get('price', id, param);
      if (price.recurring === null) throw invalid('The price must be recurring.', { param });
      return { price, quantity };
    });
    const method = wanted.default_payment_method;
    return startSubscription(double, {
      customer: wanted.customer,
      items,
      default_payment_method: method === undefined ? null : methodOf(double, method).id,
      metadata: wanted.metadata ?? {},
    });
  }),
  listRoute('/v1/subscriptions', 'subscription'),
  getRoute('/v1/subscriptions', 'subscription'),
  route('POST /v1/subscriptions/{id}', ({ double, id, input }) => {
    const subscription = double.store.get('subscription', id);
    const wanted = read(subscriptionUpdateSchema, input);
    const { metadata: before, cancel_at_period_end } = subscription;
    subscription.metadata = mergeMetadata(before, wanted.metadata);
    if (wanted.cancel_at_period_end !== undefined) {
      subscription.cancel_at_period_end = wanted.cancel_at_period_end;
      subscription.canceled_at = wanted.cancel_at_period_end ? double.clock.now() : null;
    }
    if (wanted.default_payment_method !== undefined) {
      subscription.default_payment_method = methodOf(double, wanted.default_payment_method).id;
    }
    for (const { id: itemId, price } of wanted.items ?? []) {
      const item = subscription.items.data.find((each) => each.id === itemId);
      if (item === undefined) throw invalid('No such subscription item.', { param: 'items' });
      item.price = double.store.get('price', price, 'items[0][price]');
    }
    emit(double, 'customer.subscription.updated', subscription, { metadata: before, cancel_at_period_end });
    return subscription;
  }),
  route('DELETE /v1/subscriptions/{id}', ({ double, id }) => {
    const subscription = double.store.get('subscription', id);
    if (subscription.status === 'canceled') throw invalid('This subscription is already canceled.');
    return cancel(double, subscription, 'cancellation_requested');
  }),
];
