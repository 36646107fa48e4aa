import type Stripe from 'stripe';
import { SLOT_KEY_PREFIX } from '../subscription-provider.ts';
import type {
  ItemsChange,
  ProratedChange,
  ProvidedInvoice,
  ProvidedSubscription,
  SubscriptionProvider,
} from '../subscription-provider.ts';
import { asked, askedAll, undefinedIfMissing } from './refusals.ts';
import { dateOf, idOf, secondsOf } from './values.ts';

/** Of the portal's configuration that is ours. */
const PORTAL = { tollgate: 'portal' };

/** Plans and quantities change here only: a switch in the portal has been used to get more than was paid for. */
const PORTAL_FEATURES = {
  customer_update: { enabled: true, allowed_updates: ['address', 'tax_id'] },
  invoice_history: { enabled: true },
  payment_method_update: { enabled: true },
  subscription_cancel: { enabled: true, mode: 'at_period_end' },
  subscription_update: { enabled: false },
} satisfies Stripe.BillingPortal.ConfigurationCreateParams.Features;

const STATES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;

const OVER = new Set<Stripe.Subscription.Status>(['canceled', 'incomplete_expired']);

const PAGE = 100;

export function createStripeSubscriptions(stripe: Stripe): SubscriptionProvider {
  const read = (id: string) =>
    stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] }).catch(undefinedIfMissing);

  async function paymentsOf(id: string): Promise<string[]> {
    const invoice = idOf((await read(id))?.latest_invoice);
    return invoice === undefined ? [] : paymentsOfInvoice(invoice);
  }

  async function paymentsOfInvoice(invoice: string): Promise<string[]> {
    const { data } = await stripe.invoicePayments.list({ invoice, status: 'paid' });
    return data.flatMap(({ payment }) => idOf(payment.payment_intent) ?? []);
  }

  /** Stripe says `processing` of what a bank decides on later: SEPA, ACH, Bacs and other debits. */
  async function isProcessing(invoice: Stripe.Invoice): Promise<boolean> {
    if (!wasTried(invoice)) return false;
    const { data } = await stripe.invoicePayments.list({
      invoice: invoice.id,
      status: 'open',
      expand: ['data.payment.payment_intent'],
    });
    return data.some(
      ({ payment: { payment_intent } }) =>
        typeof payment_intent === 'object' && payment_intent.status === 'processing',
    );
  }

  /** An invoice states ten of its lines itself, and what waited for it before the subscription. */
  async function linesOf({ id, lines }: Stripe.Invoice): Promise<readonly Stripe.InvoiceLineItem[]> {
    if (!lines.has_more) return lines.data;
    const all: Stripe.InvoiceLineItem[] = [];
    for await (const line of stripe.invoices.listLineItems(id, { limit: PAGE })) all.push(line);
    return all;
  }

  async function* live(): AsyncGenerator<ProvidedSubscription> {
    const listed = stripe.subscriptions.list({ limit: PAGE, expand: ['data.latest_invoice'] });
    for await (const found of listed) yield subscriptionOf(found);
  }

  async function findPortal(): Promise<Stripe.BillingPortal.Configuration | undefined> {
    const { data } = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
    return data.find(({ metadata }) => metadata?.['tollgate'] === PORTAL.tollgate);
  }

  async function ensurePortal(): Promise<string> {
    const ours = await findPortal();
    if (ours !== undefined) {
      await stripe.billingPortal.configurations.update(ours.id, { features: PORTAL_FEATURES });
      return ours.id;
    }
    const made = await stripe.billingPortal.configurations.create(
      { features: PORTAL_FEATURES, metadata: PORTAL },
      { idempotencyKey: 'portal-configuration' },
    );
    return made.id;
  }

  /** Only what Stripe itself computes is charged or shown. */
  async function proratedItems(id: string, { prorated_at, ...change }: ProratedChange) {
    const { items } = await stripe.subscriptions.retrieve(id);
    const starts = items.data.map(({ current_period_start }) => current_period_start);
    return {
      items: changedItems(items.data, change),
      proration_behavior: 'always_invoice' as const,
      proration_date: Math.max(secondsOf(prorated_at), ...starts),
    };
  }

  return {
    readSubscription: (id) =>
      asked(async () => {
        const found = await read(id);
        return found === undefined ? undefined : subscriptionOf(found);
      }),
    listSubscriptions: () => askedAll(live()),
    changeSubscription: (id, { cancel_at_period_end, begins_at, isNewPeriod = false, ...change }, key) =>
      asked(async () => {
        const isOfItems = change.price_id !== undefined || change.slots !== undefined;
        const items = isOfItems
          ? changedItems((await stripe.subscriptions.retrieve(id)).items.data, change)
          : [];
        await stripe.subscriptions.update(
          id,
          {
            ...(cancel_at_period_end !== undefined && { cancel_at_period_end }),
            ...(items.length > 0 && { items, proration_behavior: isNewPeriod ? 'always_invoice' : 'none' }),
            // What is left of the period is paid. Without a trial, Stripe begins another interval at once.
            ...(begins_at !== undefined && { trial_end: secondsOf(begins_at) }),
          },
          { idempotencyKey: key },
        );
      }),
    previewChange: (id, wanted) =>
      asked(async () => {
        const subscription_details = await proratedItems(id, wanted);
        const preview = await stripe.invoices.createPreview({ subscription: id, subscription_details });
        return { amount_due: preview.amount_due, currency: preview.currency };
      }),
    changeNow: (id, wanted, key) =>
      asked(async () => {
        const items = await proratedItems(id, wanted);
        await stripe.subscriptions.update(
          id,
          { ...items, payment_behavior: 'pending_if_incomplete' },
          { idempotencyKey: key },
        );
      }),
    endSubscription: (id) =>
      asked(async () => {
        const found = await read(id);
        if (found === undefined || OVER.has(found.status)) return;
        await stripe.subscriptions.cancel(id);
      }),
    readInvoice: (id) =>
      asked(async () => {
        const found = await stripe.invoices.retrieve(id).catch(undefinedIfMissing);
        if (found === undefined) return undefined;
        const [lines, isDebited] = await Promise.all([linesOf(found), isProcessing(found)]);
        return invoiceOf(found, lines, isDebited);
      }),
    listInvoicePayments: (id) => asked(() => paymentsOfInvoice(id)),
    listPayments: (id) => asked(() => paymentsOf(id)),
    openPortal: ({ customer_id, return_url }) =>
      asked(async () => {
        const configuration = (await findPortal())?.id ?? (await ensurePortal());
        const session = await stripe.billingPortal.sessions.create({
          customer: customer_id,
          return_url,
          configuration,
        });
        return session.url;
      }),
    ensurePortal: () => asked(ensurePortal),
  };
}

function subscriptionOf(found: Stripe.Subscription): ProvidedSubscription {
  const { id, status, cancel_at_period_end, billing_cycle_anchor, ended_at, items, metadata } = found;
  const latest = typeof found.latest_invoice === 'object' ? found.latest_invoice : null;
  return {
    id,
    isEnded: OVER.has(status),
    isPaid: latest?.status === 'paid',
    latest_invoice_id: idOf(found.latest_invoice) ?? null,
    cancel_at_period_end,
    anchor: dateOf(billing_cycle_anchor),
    period_started_at: dateOf(
      Math.max(...items.data.map(({ current_period_start }) => current_period_start)),
    ),
    period_ends_at: dateOf(Math.max(...items.data.map(({ current_period_end }) => current_period_end))),
    ended_at: ended_at === null ? null : dateOf(ended_at),
    ...itemsOf(items.data),
    unpaid_change: unpaidChangeOf(found, latest),
    metadata,
  };
}

function unpaidChangeOf(
  { pending_update }: Stripe.Subscription,
  latest: Stripe.Invoice | null,
): ProvidedSubscription['unpaid_change'] {
  if (pending_update === null) return null;
  const items = itemsOf(pending_update.subscription_items ?? []);
  return { ...items, payment_url: latest?.hosted_invoice_url ?? null };
}

function itemsOf(items: readonly Stripe.SubscriptionItem[]) {
  return {
    price_id: items.find((item) => !isOfSlots(item))?.price.id,
    slots: items.find(isOfSlots)?.quantity ?? 0,
  };
}

function isOfSlots({ price }: Stripe.SubscriptionItem): boolean {
  return price.metadata['tollgate']?.startsWith(SLOT_KEY_PREFIX) === true;
}

function changedItems(present: readonly Stripe.SubscriptionItem[], { price_id, slots }: ItemsChange) {
  const plan = present.find((item) => !isOfSlots(item));
  const slot = present.find(isOfSlots);
  if (plan === undefined) throw new Error('the subscription has no item of a plan');
  return [
    ...(price_id === undefined ? [] : [{ id: plan.id, price: price_id }]),
    ...(slots === null && slot !== undefined ? [{ id: slot.id, deleted: true }] : []),
    ...(slots === null || slots === undefined
      ? []
      : [
          {
            ...(slot !== undefined && { id: slot.id }),
            ...(slots.price_id !== undefined && { price: slots.price_id }),
            quantity: slots.quantity,
          },
        ]),
  ];
}

/** A debit counts as an attempt from its beginning. */
function wasTried({ status, attempt_count }: Stripe.Invoice): boolean {
  return status === 'open' && attempt_count > 0;
}

function invoiceOf(
  found: Stripe.Invoice,
  lines: readonly Stripe.InvoiceLineItem[],
  isProcessing: boolean,
): ProvidedInvoice {
  const { id, customer, parent, billing_reason, number, status, currency, total, created } = found;
  const details = parent?.subscription_details ?? null;
  const periods = details === null ? [] : lines.map(({ period }) => period);
  const latest = (seconds: readonly number[]) => (seconds.length === 0 ? null : dateOf(Math.max(...seconds)));
  const paidAt = found.status_transitions.paid_at;
  return {
    id,
    customer_id: idOf(customer),
    subscription_id: idOf(details?.subscription),
    billing_reason,
    number,
    state: STATES.find((state) => state === status) ?? 'draft',
    currency,
    total,
    period_start: latest(periods.map(({ start }) => start)),
    period_end: latest(periods.map(({ end }) => end)),
    isProcessing,
    hasFailed: wasTried(found) && !isProcessing,
    issued_at: dateOf(found.status_transitions.finalized_at ?? created),
    paid_at: paidAt === null ? null : dateOf(paidAt),
    hosted_url: found.hosted_invoice_url ?? null,
  };
}
