import { newId } from '../ids.ts';
import type { Metadata, Price } from './catalogue.ts';

type Period = { start: number; end: number };

export function newInvoiceItem(input: {
  created: number;
  customer: string;
  amount: number;
  currency: string;
  description?: string | undefined;
  metadata?: Metadata | undefined;
  period?: Period | undefined;
  test_clock: string | null;
}) {
  return {
    id: newId('ii'),
    object: 'invoiceitem' as const,
    amount: input.amount,
    currency: input.currency,
    customer: input.customer,
    customer_account: null,
    date: input.created,
    description: input.description ?? null,
    discountable: true,
    discounts: [],
    invoice: null as string | null,
    livemode: false,
    metadata: input.metadata ?? {},
    net_amount: input.amount,
    parent: null,
    period: input.period ?? { start: input.created, end: input.created },
    pricing: null,
    proration: false,
    quantity: 1,
    quantity_decimal: '1',
    tax_rates: [],
    test_clock: input.test_clock,
  };
}

export type InvoiceLine = {
  amount: number;
  description: string | null;
  period: Period;
  metadata: Metadata;
  price?: Price;
  subscription?: string;
};

export function newInvoice(input: {
  created: number;
  customer: string;
  currency: string;
  billing_reason: 'manual' | 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  lines: InvoiceLine[];
  subscription?: string | undefined;
  subscriptionMetadata?: Metadata | undefined;
  description?: string | undefined;
  default_payment_method?: string | undefined;
  metadata?: Metadata | undefined;
  auto_advance: boolean;
  automatic_tax?: boolean;
  test_clock: string | null;
}) {
  const id = newId('in');
  const total = input.lines.reduce((sum, { amount }) => sum + amount, 0);
  const { created, subscription } = input;
  return {
    id,
    object: 'invoice' as const,
    account_country: 'US',
    account_name: 'Sample',
    account_tax_ids: null,
    amount_due: Math.max(0, total),
    amount_overpaid: 0,
    amount_paid: 0,
    amount_paid_off_stripe: 0,
    amount_remaining: Math.max(0, total),
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: input.auto_advance,
    automatic_tax: {
      disabled_reason: null,
      enabled: input.automatic_tax ?? false,
      liability: null,
      provider: null,
      status: null,
    },
    automatically_finalizes_at: null as number | null,
    billing_reason: input.billing_reason,
    collection_method: 'charge_automatically',
    created,
    currency: input.currency,
    custom_fields: null,
    customer: input.customer,
    customer_account: null,
    customer_address: null,
    customer_email: null,
    customer_name: null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: input.default_payment_method ?? null,
    default_source: null,
    default_tax_rates: [],
    description: input.description ?? null,
    discounts: [],
    due_date: null,
    effective_at: null as number | null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: null as string | null,
    invoice_pdf: null as string | null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: {
      object: 'list',
      data: input.lines.map((line) => newLine(id, line, input.currency)),
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    livemode: false,
    metadata: input.metadata ?? {},
    next_payment_attempt: null as number | null,
    number: null as string | null,
    on_behalf_of: null,
    parent:
      subscription === undefined
        ? null
        : {
            quote_details: null,
            subscription_details: { metadata: input.subscriptionMetadata ?? {}, subscription },
            type: 'subscription_details',
          },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: created,
    period_start: created,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'draft' as 'draft' | 'open' | 'paid' | 'void' | 'uncollectible',
    status_transitions: {
      finalized_at: null as number | null,
      marked_uncollectible_at: null,
      paid_at: null as number | null,
      voided_at: null as number | null,
    },
    subtotal: total,
    subtotal_excluding_tax: total,
    test_clock: input.test_clock,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: created,
  };
}

/** Adds to a draft. */
export function addLines(invoice: Invoice, lines: readonly InvoiceLine[]): void {
  invoice.lines.data.push(...lines.map((line) => newLine(invoice.id, line, invoice.currency)));
  const total = invoice.lines.data.reduce((sum, { amount }) => sum + amount, 0);
  invoice.amount_due = Math.max(0, total);
  invoice.amount_remaining = Math.max(0, total);
  invoice.subtotal = total;
  invoice.subtotal_excluding_tax = total;
  invoice.total = total;
  invoice.total_excluding_tax = total;
}

/** What was paid of an invoice, and by which payment. */
export function newInvoicePayment(input: { created: number; invoice: Invoice; payment_intent: string }) {
  const { created, invoice } = input;
  return {
    id: newId('inpay'),
    object: 'invoice_payment' as const,
    amount_paid: null as number | null,
    amount_requested: invoice.total,
    created,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: input.payment_intent, type: 'payment_intent' },
    status: 'open' as 'open' | 'paid' | 'canceled',
    status_transitions: { canceled_at: null, paid_at: null as number | null },
  };
}

function newLine(invoice: string, line: InvoiceLine, currency: string) {
  const { price, subscription } = line;
  return {
    id: newId('il'),
    object: 'line_item',
    amount: line.amount,
    currency,
    description: line.description,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice,
    livemode: false,
    metadata: line.metadata,
    parent: null,
    period: line.period,
    pretax_credit_amounts: [],
    pricing:
      price === undefined
        ? null
        : {
            price_details: { price: price.id, product: price.product },
            type: 'price_details',
            unit_amount_decimal: price.unit_amount_decimal,
          },
    quantity: 1,
    quantity_decimal: '1',
    subscription: subscription ?? null,
    subtotal: line.amount,
    taxes: [],
  };
}

export type SubscriptionStatus =
  'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'canceled' | 'unpaid' | 'paused';

/** A change that takes effect once its invoice is paid. */
type PendingUpdate = {
  billing_cycle_anchor: number | null;
  expires_at: number;
  subscription_items: SubscriptionItem[];
  trial_end: null;
  trial_from_plan: null;
};

export type SubscriptionItem = {
  id: string;
  object: 'subscription_item';
  billing_thresholds: null;
  created: number;
  current_period_end: number;
  current_period_start: number;
  discounts: never[];
  metadata: Metadata;
  price: Price;
  quantity: number;
  subscription: string;
  tax_rates: never[];
};

export function newSubscriptionItem(input: {
  created: number;
  price: Price;
  quantity: number;
  period: Period;
  subscription: string;
}): SubscriptionItem {
  const { price, quantity, period, subscription } = input;
  return {
    id: newId('si', 14),
    object: 'subscription_item',
    billing_thresholds: null,
    created: input.created,
    current_period_end: period.end,
    current_period_start: period.start,
    discounts: [],
    metadata: {},
    price,
    quantity,
    subscription,
    tax_rates: [],
  };
}

export function newSubscription(input: {
  created: number;
  customer: string;
  items: { price: Price; quantity: number }[];
  period: Period;
  default_payment_method: string | null;
  metadata: Metadata;
  test_clock: string | null;
}) {
  const id = newId('sub');
  const { created } = input;
  return {
    id,
    object: 'subscription' as const,
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: input.period.start,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: null, type: 'classic' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null as number | null,
    cancel_at_period_end: false,
    canceled_at: null as number | null,
    cancellation_details: { comment: null, feedback: null, reason: null as string | null },
    collection_method: 'charge_automatically',
    created,
    currency: input.items[0]?.price.currency ?? 'usd',
    customer: input.customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: input.default_payment_method,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null as number | null,
    invoice_settings: { account_tax_ids: null, issuer: { type: 'self' } },
    items: {
      object: 'list',
      data: input.items.map((item) =>
        newSubscriptionItem({ ...item, created, period: input.period, subscription: id }),
      ),
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: null as string | null,
    livemode: false,
    metadata: input.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null as PendingUpdate | null,
    schedule: null,
    start_date: created,
    status: 'incomplete' as SubscriptionStatus,
    test_clock: input.test_clock,
    transfer_data: null,
    trial_end: null as number | null,
    trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
    trial_start: null as number | null,
  };
}

export type InvoiceItem = ReturnType<typeof newInvoiceItem>;
export type InvoicePayment = ReturnType<typeof newInvoicePayment>;
export type Invoice = ReturnType<typeof newInvoice>;
export type Subscription = ReturnType<typeof newSubscription>;
