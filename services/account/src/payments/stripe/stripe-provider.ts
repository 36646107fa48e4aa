import { createHash } from 'node:crypto';
import Stripe from 'stripe';
import type { InstallationId } from '../installation-id.ts';
import type { Checkout, PaymentProvider, WantedPrice } from '../provider.ts';
import { isOwn, marked, ofInstallation } from './installation.ts';
import { OWN_REFUND, listReversedPayments, readPayment } from './payments.ts';
import { asked, askedAll, falseIfRefused, undefinedIfMissing } from './refusals.ts';
import { readSignedEvent } from './signed-event.ts';
import type { TaxMode } from '../settings.ts';
import { createOffSessionPayments } from './off-session-payments.ts';
import { createStripeInvoiceItems } from './stripe-invoice-items.ts';
import { createStripeSubscriptions } from './stripe-subscriptions.ts';
import { idOf, secondsOf } from './values.ts';

export type StripeSettings = {
  secretKey: string;
  /** Two during a rotation. */
  webhookSecrets: readonly string[];
  installationId: InstallationId;
  /** Undefined for Stripe itself. */
  apiUrl: string | undefined;
  tax?: TaxMode;
  /** Whether a payment page of a pack makes an invoice. */
  packInvoices?: boolean;
};

/** Tax depends on the address and the VAT number, which the page asks for and the customer keeps. */
const TAXED_PAGE = {
  automatic_tax: { enabled: true },
  tax_id_collection: { enabled: true },
  customer_update: { address: 'auto', name: 'auto' },
} satisfies Stripe.Checkout.SessionCreateParams;

/** Two attempts and the pause between them end before callers give up. */
const ATTEMPT_TIMEOUT_MS = 4_000;
const RETRIES = 1;

/** Stripe by its official package. Every POST has a key that is derived from our rows (docs/design/payments.md). */
export function createStripeProvider({
  secretKey,
  webhookSecrets,
  installationId,
  apiUrl,
  tax = 'off',
  packInvoices = false,
}: StripeSettings): PaymentProvider {
  const stripe = new Stripe(secretKey, {
    ...addressOf(apiUrl),
    timeout: ATTEMPT_TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
  });
  const livemode = /^(sk|rk)_live_/.test(secretKey);
  const readSession = (id: string) => stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent'] });

  async function ensurePrice(wanted: WantedPrice): Promise<string> {
    const { lookup_key, name, currency, unit_amount, tax_behavior, billing_interval } = wanted;
    const { data } = await stripe.prices.list({ lookup_keys: [lookup_key], active: true, limit: 1 });
    if (data[0] !== undefined) return data[0].id;
    const metadata = { tollgate: lookup_key };
    // With its product in one request: a product of its own could be made twice.
    const price = await stripe.prices.create(
      {
        product_data: { name, metadata },
        currency,
        unit_amount,
        tax_behavior,
        lookup_key,
        metadata,
        ...(billing_interval !== undefined && { recurring: { interval: billing_interval } }),
      },
      { idempotencyKey: `price:${lookup_key}` },
    );
    return price.id;
  }

  const provider: PaymentProvider = {
    createCustomer: async ({ account_id, email, name }) => {
      const own = await installationId();
      return asked(async () => {
        const wanted = { email, name, metadata: marked({ account_id: String(account_id) }, own) };
        // An id alone may be another person's, after a restore.
        for await (const { id, metadata } of stripe.customers.list({ email, limit: PAGE })) {
          if (metadata['account_id'] === wanted.metadata['account_id'] && isOwn(metadata, own)) return id;
        }
        const idempotencyKey = `customer:${createHash('sha256').update(JSON.stringify(wanted)).digest('hex')}`;
        return (await stripe.customers.create(wanted, { idempotencyKey })).id;
      });
    },
    ensurePrice: (wanted) => asked(() => ensurePrice(wanted)),
    openCheckout: ({ key, mode, customer_id, price_id, quantity, success_url, cancel_url, metadata }) =>
      asked(async () => {
        const session = await stripe.checkout.sessions.create(
          {
            mode,
            customer: customer_id,
            line_items: [{ price: price_id, quantity }],
            success_url,
            cancel_url,
            metadata,
            ...(tax === 'automatic' && TAXED_PAGE),
            ...(mode === 'payment'
              ? {
                  payment_intent_data: { metadata },
                  ...(packInvoices && {
                    invoice_creation: { enabled: true, invoice_data: { metadata } },
                  }),
                }
              : { subscription_data: { metadata } }),
          },
          { idempotencyKey: `checkout:${key}` },
        );
        return checkoutOf(session);
      }),
    readCheckout: (id) => asked(() => readSession(id).then(checkoutOf).catch(undefinedIfMissing)),
    expireCheckout: (id) =>
      asked(() =>
        stripe.checkout.sessions
          .expire(id, {}, { idempotencyKey: `expire:${id}` })
          .then(({ status }) => status === 'expired')
          .catch(falseIfRefused),
      ),
    readPayment: (id) => asked(() => readPayment(stripe, id)),
    refund: (payment_intent) =>
      asked(async () => {
        await stripe.refunds
          .create(
            { payment_intent, metadata: OWN_REFUND },
            { idempotencyKey: `own-refund:${payment_intent}` },
          )
          .catch(unlessRefunded);
      }),
    listCheckouts: (since) =>
      askedAll(idsOf(stripe.checkout.sessions.list({ created: { gte: secondsOf(since) }, limit: PAGE }))),
    listReversedPayments: (since) => askedAll(listReversedPayments(stripe, secondsOf(since))),
    listInvoices: (since) =>
      askedAll(idsOf(stripe.invoices.list({ created: { gte: secondsOf(since) }, limit: PAGE }))),
    ...createStripeSubscriptions(stripe),
    ...createOffSessionPayments(stripe),
    ...createStripeInvoiceItems(stripe, tax),
    readEvent: (body, signature, nowMs) =>
      readSignedEvent(body, signature, { webhooks: stripe.webhooks, webhookSecrets, livemode, nowMs }),
  };
  return ofInstallation(provider, installationId);
}

function checkoutOf(session: Stripe.Checkout.Session): Checkout {
  const { id, url, payment_intent, subscription, metadata } = session;
  const paymentId = idOf(payment_intent);
  return {
    session_id: id,
    url,
    state: stateOf(session),
    payment_id: paymentId ?? id,
    subscription_id: idOf(subscription),
    metadata: metadata ?? {},
  };
}

function stateOf({ status, payment_status, payment_intent }: Stripe.Checkout.Session): Checkout['state'] {
  if (status !== 'complete') return status === 'expired' ? 'expired' : 'open';
  if (payment_status !== 'unpaid') return 'paid';
  const payment = typeof payment_intent === 'object' ? payment_intent?.status : undefined;
  return payment === 'requires_payment_method' || payment === 'canceled' ? 'failed' : 'processing';
}

/** By hand, or by an attempt whose key Stripe has forgotten. */
function unlessRefunded(error: unknown): void {
  if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
  if (error.code !== 'charge_already_refunded') throw error;
}

const PAGE = 100;

async function* idsOf(objects: AsyncIterable<{ id: string }>): AsyncGenerator<string> {
  for await (const { id } of objects) yield id;
}

/** What the package takes for STRIPE_API_URL. */
export function addressOf(apiUrl: string | undefined) {
  if (apiUrl === undefined) return {};
  const { protocol, hostname, port } = new URL(apiUrl);
  return {
    host: hostname,
    protocol: protocol === 'https:' ? ('https' as const) : ('http' as const),
    ...(port !== '' && { port }),
  };
}
