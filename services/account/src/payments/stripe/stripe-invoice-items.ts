import type Stripe from 'stripe';
import type { InvoiceItem, InvoiceItemProvider } from '../invoice-item-provider.ts';
import type { TaxMode } from '../settings.ts';
import { asked } from './refusals.ts';
import { idOf, secondsOf } from './values.ts';

const PAGE = 100;

export function createStripeInvoiceItems(stripe: Stripe, tax: TaxMode): InvoiceItemProvider {
  async function isLost({ invoice }: Stripe.InvoiceItem): Promise<boolean> {
    const id = idOf(invoice);
    if (id === undefined) return false;
    const { status, billing_reason } = await stripe.invoices.retrieve(id);
    return status === 'void' && billing_reason === 'subscription_update';
  }

  return {
    findInvoiceItem: (customer, chargeKey) =>
      asked(async () => {
        let lost: InvoiceItem | undefined;
        for await (const item of stripe.invoiceItems.list({ customer, limit: PAGE })) {
          if (item.metadata?.['tollgate_overage'] !== chargeKey) continue;
          if (!(await isLost(item))) return itemOf(item);
          lost ??= { ...itemOf(item), isLost: true };
        }
        return lost;
      }),
    findDraft: (customer, subscriptionId) =>
      asked(async () => {
        const { data } = await stripe.invoices.list({ customer, status: 'draft', limit: PAGE });
        return data.find(({ parent }) => idOf(parent?.subscription_details?.subscription) === subscriptionId)
          ?.id;
      }),
    addInvoiceItem: ({ key, customer_id, invoice_id, period, ...wanted }) =>
      asked(async () => {
        const item = await stripe.invoiceItems.create(
          {
            ...wanted,
            customer: customer_id,
            ...(invoice_id !== undefined && { invoice: invoice_id }),
            period: { start: secondsOf(period.start), end: secondsOf(period.end) },
          },
          { idempotencyKey: key },
        );
        return itemOf(item);
      }),
    invoicePendingItems: ({ key, customer_id, currency, payment_method_id }) =>
      asked(async () => {
        const invoice = await stripe.invoices.create(
          {
            customer: customer_id,
            currency,
            ...(payment_method_id !== undefined && { default_payment_method: payment_method_id }),
            pending_invoice_items_behavior: 'include',
            ...(tax === 'automatic' && { automatic_tax: { enabled: true } }),
            auto_advance: true,
          },
          { idempotencyKey: `invoice:${key}` },
        );
        return invoice.id;
      }),
  };
}

function itemOf({ id, invoice, amount, metadata }: Stripe.InvoiceItem): InvoiceItem {
  const points = Number(metadata?.['points']);
  return {
    id,
    invoice_id: idOf(invoice) ?? null,
    amount,
    points: Number.isSafeInteger(points) ? points : undefined,
    isLost: false,
  };
}
