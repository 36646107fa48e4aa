import { z } from 'zod';
import { checkCurrency } from '../currencies.ts';
import { emit } from '../double.ts';
import { invalid } from '../http/failure.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { addLines, newInvoice, newInvoiceItem } from '../objects/billing.ts';
import type { Subscription } from '../objects/billing.ts';
import { methodOf } from '../payments/confirm.ts';
import { finalize, pay } from '../payments/invoices.ts';
import { dropPendingUpdate } from '../payments/subscription-status.ts';
import {
  cancel,
  changeAndCharge,
  changeAt,
  changeItems,
  chargeChange,
  DRAFT_SEC,
  pendingItems,
  previewChange,
  startSubscription,
} from '../payments/subscriptions.ts';
import type { ItemChange } from '../payments/changes.ts';
import type { Double } from '../double.ts';
import { flag, mergeMetadata, metadata, metadataOrNone, whole } from './input.ts';
import { LINES, getRoute, listRoute } from './list.ts';

const itemSchema = z.object({
  customer: z.string(),
  amount: whole,
  currency: z.string().optional(),
  description: z.string().optional(),
  invoice: z.string().optional(),
  period: z.object({ start: whole, end: whole }).optional(),
  metadata: metadata.optional(),
});
const invoiceSchema = z.object({
  customer: z.string(),
  currency: z.string().optional(),
  description: z.string().optional(),
  default_payment_method: z.string().optional(),
  metadata: metadata.optional(),
  auto_advance: flag.optional(),
  automatic_tax: z.object({ enabled: flag }).optional(),
  pending_invoice_items_behavior: z.enum(['exclude', 'include']).optional(),
});
const paySchema = z.object({ payment_method: z.string().optional() });
const subscriptionSchema = z.object({
  customer: z.string(),
  items: z.array(z.object({ price: z.string(), quantity: whole.optional() })).min(1),
  default_payment_method: z.string().optional(),
  metadata: metadata.optional(),
});
const itemsSchema = z
  .array(
    z.object({
      id: z.string().optional(),
      price: z.string().optional(),
      quantity: whole.pipe(z.int().min(0)).optional(),
      deleted: flag.optional(),
    }),
  )
  .min(1);
const subscriptionUpdateSchema = z.object({
  cancel_at_period_end: flag.optional(),
  default_payment_method: z.string().optional(),
  items: itemsSchema.optional(),
  proration_behavior: z.enum(['none', 'always_invoice']).optional(),
  proration_date: whole.optional(),
  payment_behavior: z.literal('pending_if_incomplete').optional(),
  trial_end: whole.optional(),
  metadata: metadataOrNone.optional(),
});
const previewSchema = z.object({
  subscription: z.string(),
  subscription_details: z.object({
    items: itemsSchema,
    proration_behavior: z.literal('always_invoice'),
    proration_date: whole.optional(),
  }),
});

export const BILLING: Route[] = [
  route('POST /v1/invoiceitems', ({ double, input }) => {
    const { store, clock } = double;
    const wanted = read(itemSchema, input);
    const customer = store.get('customer', wanted.customer, 'customer');
    const currency = checkCurrency(wanted.currency ?? customer.currency ?? 'usd');
    const draft = wanted.invoice === undefined ? undefined : store.get('invoice', wanted.invoice, 'invoice');
    if (draft !== undefined && draft.status !== 'draft') {
      throw invalid('The invoice must be a draft to add items to it.', { param: 'invoice' });
    }
    if (draft !== undefined && (draft.customer !== customer.id || draft.currency !== currency)) {
      throw invalid("The item must have the invoice's customer and currency.", { param: 'invoice' });
    }
    const item = store.add(
      newInvoiceItem({ ...wanted, created: clock.now(), currency, test_clock: customer.test_clock }),
    );
    emit(double, 'invoiceitem.created', item);
    if (draft === undefined) return item;
    item.invoice = draft.id;
    addLines(draft, [item]);
    emit(double, 'invoice.updated', draft);
    return item;
  }),
  listRoute('/v1/invoiceitems', 'invoiceitem'),
  route('POST /v1/invoices', ({ double, input }) => {
    const { store, clock } = double;
    const wanted = read(invoiceSchema, input);
    const { test_clock } = store.get('customer', wanted.customer, 'customer');
    const method = wanted.default_payment_method;
    const isIncluding = wanted.pending_invoice_items_behavior === 'include';
    const items = isIncluding ? pendingItems(double, wanted.customer, wanted.currency) : [];
    const invoice = store.add(
      newInvoice({
        ...wanted,
        default_payment_method: method === undefined ? undefined : methodOf(double, method).id,
        created: clock.now(),
        currency: checkCurrency(wanted.currency ?? items[0]?.currency ?? 'usd'),
        billing_reason: 'manual',
        lines: items,
        auto_advance: wanted.auto_advance ?? false,
        automatic_tax: wanted.automatic_tax?.enabled ?? false,
        test_clock,
      }),
    );
    for (const item of items) item.invoice = invoice.id;
    if (invoice.auto_advance) invoice.automatically_finalizes_at = invoice.created + DRAFT_SEC;
    emit(double, 'invoice.created', invoice);
    return invoice;
  }),
  route('POST /v1/invoices/create_preview', ({ double, input }) => {
    const { subscription: id, subscription_details: details } = read(previewSchema, input);
    const subscription = double.store.get('subscription', id, 'subscription');
    const changes = changesOf(double, subscription, details.items);
    return previewChange(double, subscription, changes, details.proration_date ?? double.clock.now());
  }),
  listRoute('/v1/invoices', 'invoice'),
  getRoute('/v1/invoices', 'invoice'),
  LINES,
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
    dropPendingUpdate(double, invoice);
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
    emit(double, 'customer.subscription.updated', subscription, { metadata: before, cancel_at_period_end });
    if (wanted.items === undefined && wanted.trial_end === undefined) return subscription;
    const changes = changesOf(double, subscription, wanted.items ?? []);
    const at = wanted.proration_date ?? double.clock.now();
    // Tollgate names it always; Stripe's default is to add the difference to the next invoice.
    if (wanted.trial_end !== undefined) changeAt(double, subscription, changes, wanted.trial_end);
    else if (wanted.proration_behavior !== 'always_invoice') changeItems(double, subscription, changes);
    else if (wanted.payment_behavior === undefined) changeAndCharge(double, subscription, changes, at);
    else chargeChange(double, subscription, changes, at);
    return subscription;
  }),
  route('DELETE /v1/subscriptions/{id}', ({ double, id }) => {
    const subscription = double.store.get('subscription', id);
    if (subscription.status === 'canceled') throw invalid('This subscription is already canceled.');
    return cancel(double, subscription, 'cancellation_requested');
  }),
];

/** @throws {Failure} resource_missing, or for an item of another subscription */
function changesOf(
  { store }: Double,
  { items }: Subscription,
  wanted: z.infer<typeof itemsSchema>,
): ItemChange[] {
  return wanted.map(({ id, price, quantity, deleted }) => {
    if (id !== undefined && items.data.every((item) => item.id !== id)) {
      throw invalid('No such subscription item.', { param: 'items' });
    }
    if (id === undefined && price === undefined) throw invalid('Missing price.', { param: 'items' });
    return {
      id,
      price: price === undefined ? undefined : store.get('price', price, 'items[0][price]'),
      quantity: deleted === true ? 0 : quantity,
    };
  });
}
