import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SAMPLE_SECRET_KEY, startSamplePayments } from '@tollgate/testbed/payments/sample-payments';
import type { SamplePayments } from '@tollgate/testbed/payments/sample-payments';
import type { PaymentProvider } from '../provider.ts';
import { createStripeProvider } from './stripe-provider.ts';

/** What the adapter asks of Stripe, without account: which keys its requests have, and what is repeated without them. */

const INSTALLATION = '5b0c8a4e-6f0e-4c55-9c0a-6f3d4b1f2a77';

const installationId = () => Promise.resolve(INSTALLATION);

let payments: SamplePayments;
let provider: PaymentProvider;

const begun = ({ request }: { request: ClientRequest }) => {
  if (request.method === 'POST')
    asked.push([request.path, String(request.getHeader('Idempotency-Key') ?? '')]);
};
const asked: [path: string, key: string][] = [];

beforeAll(async () => {
  payments = await startSamplePayments();
  provider = createStripeProvider({
    secretKey: SAMPLE_SECRET_KEY,
    webhookSecrets: ['whsec_1'],
    installationId,
    apiUrl: payments.url,
  });
  subscribe('http.client.request.start', begun as never);
});

afterAll(async () => {
  unsubscribe('http.client.request.start', begun as never);
  await payments.stop();
});

beforeEach(() => {
  asked.length = 0;
});

let accounts = 0;

function newAccount() {
  accounts += 1;
  return { account_id: accounts, email: `owner-${String(accounts)}@example.com`, name: 'Owner' };
}

const price = (lookup_key: string, billing_interval?: 'month') => ({
  lookup_key,
  name: 'Standard',
  currency: 'eur',
  unit_amount: 4_900,
  tax_behavior: 'exclusive' as const,
  ...(billing_interval !== undefined && { billing_interval }),
});

const urls = { success_url: 'http://127.0.0.1/paid', cancel_url: 'http://127.0.0.1/' };

/** Stripe has forgotten all keys by then. */
const aDayLater = () => payments.post('/sample/clock', { seconds: String(25 * 3_600) });

async function newPayer() {
  const customer_id = await provider.createCustomer(newAccount());
  await payments.post('/v1/payment_methods/pm_card_visa/attach', { customer: customer_id });
  const payment_method_id = (await provider.findPaymentMethod(customer_id)) ?? '';
  return { customer_id, payment_method_id };
}

const payment = (key: string, payer: { customer_id: string; payment_method_id: string }) => ({
  ...payer,
  key,
  amount: 1_900,
  currency: 'eur',
  description: '10,000 points',
  metadata: { tollgate_top_up: key },
});

test('a customer that was made, of which we never heard, is found by its metadata a day later', async () => {
  const account = newAccount();
  const made = await provider.createCustomer(account);
  await aDayLater();
  expect(await provider.createCustomer({ ...account, name: 'Another name' })).toBe(made);
});

test('a customer of another installation with the same account id is another person', async () => {
  const account = newAccount();
  const made = await provider.createCustomer(account);
  expect(await provider.createCustomer({ ...account, email: 'someone@example.com' })).not.toBe(made);
});

test('a price that was made is found by its key, and has one product', async () => {
  const made = await provider.ensurePrice(price('found-again'));
  await aDayLater();
  expect(await provider.ensurePrice(price('found-again'))).toBe(made);
  expect(asked).toHaveLength(1);
});

test('a payment that was prepared is found by its metadata, for the same card', async () => {
  const payer = await newPayer();
  const wanted = payment('prepared', payer);
  expect(await provider.findPreparedPayment(wanted)).toBeUndefined();
  const made = await provider.preparePayment(wanted);
  await aDayLater();
  expect(await provider.findPreparedPayment(wanted)).toBe(made);
  expect(await provider.findPreparedPayment({ ...wanted, payment_method_id: 'pm_other' })).toBeUndefined();
  expect((await provider.confirmPayment(made)).state).toBe('paid');
  expect(await provider.findPreparedPayment(wanted)).toBeUndefined();
});

test('what is paid back once, confirmed, cancelled or closed once stays so', async () => {
  const payer = await newPayer();
  const paid = await provider.preparePayment(payment('once', payer));
  const cancelled = await provider.preparePayment(payment('cancelled', payer));
  const price_id = await provider.ensurePrice(price('once'));
  const { session_id } = await provider.openCheckout({
    ...urls,
    key: 'once',
    mode: 'payment',
    customer_id: payer.customer_id,
    price_id,
    quantity: 1,
    metadata: {},
  });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect((await provider.confirmPayment(paid)).state).toBe('paid');
    expect((await provider.cancelPayment(cancelled)).state).toBe('canceled');
    await provider.refund(paid);
    await provider.expireCheckout(session_id);
    await aDayLater();
  }
  expect(await provider.readPayment(paid)).toMatchObject({
    paid: 1_900,
    refunded: 1_900,
    refundedHere: 1_900,
  });
  expect(await provider.readCheckout(session_id)).toMatchObject({ state: 'expired' });
});

/** The package's own, for the second attempt of a request: where a repetition does no harm. */
const RANDOM = /^stripe-node-retry-/;

/** As in the table of docs/design/payments.md. */
const KEYS: Readonly<Record<string, RegExp>> = {
  'POST /v1/billing_portal/configurations': /^portal-configuration$/,
  'POST /v1/billing_portal/configurations/{id}': RANDOM,
  'POST /v1/billing_portal/sessions': RANDOM,
  'POST /v1/checkout/sessions': /^checkout:sold$/,
  'POST /v1/checkout/sessions/{id}/expire': /^expire:cs_/,
  'POST /v1/customers': /^customer:[0-9a-f]{64}$/,
  'POST /v1/invoiceitems': new RegExp(`^${INSTALLATION}:overage:7$`),
  'POST /v1/invoices': new RegExp(`^invoice:${INSTALLATION}:overage:7$`),
  'POST /v1/invoices/create_preview': RANDOM,
  'POST /v1/payment_intents': /^payment:keyed(-too)?:pm_/,
  'POST /v1/payment_intents/{id}/cancel': /^cancel:pi_/,
  'POST /v1/payment_intents/{id}/confirm': /^confirm:pi_/,
  'POST /v1/prices': /^price:sold/,
  'POST /v1/refunds': /^own-refund:pi_/,
  'POST /v1/subscriptions/{id}': /^change:/,
};

test('with STRIPE_TAX, payment pages ask for what the tax depends on', async () => {
  const taxing = createStripeProvider({
    secretKey: SAMPLE_SECRET_KEY,
    webhookSecrets: ['whsec_1'],
    installationId,
    apiUrl: payments.url,
    tax: 'automatic',
  });
  const customer_id = await taxing.createCustomer(newAccount());
  const price_id = await taxing.ensurePrice(price('taxed', 'month'));
  const wanted = { customer_id, price_id, quantity: 1, ...urls, metadata: {} };
  const page = await taxing.openCheckout({ ...wanted, key: 'taxed', mode: 'subscription' });
  const untaxed = await provider.openCheckout({ ...wanted, key: 'untaxed', mode: 'subscription' });
  const taxOf = async ({ session_id }: { session_id: string }) =>
    (
      (await (
        await fetch(`${payments.url}/v1/checkout/sessions/${session_id}`, {
          headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
        })
      ).json()) as { automatic_tax: { enabled: boolean } }
    ).automatic_tax.enabled;
  expect(await taxOf(page)).toBe(true);
  expect(await taxOf(untaxed)).toBe(false);
});

test('with STRIPE_TAX, an invoice of further points of its own has tax, and a top-up has none', async () => {
  const taxing = createStripeProvider({
    secretKey: SAMPLE_SECRET_KEY,
    webhookSecrets: ['whsec_1'],
    installationId,
    apiUrl: payments.url,
    tax: 'automatic',
  });
  const customer_id = await taxing.createCustomer(newAccount());
  const taxOf = async (by: PaymentProvider, key: string) => {
    const id = await by.invoicePendingItems({ key, customer_id, currency: 'eur' });
    const invoice = (await stripeOf(`/invoices/${id}`)) as { automatic_tax: { enabled: boolean } };
    return invoice.automatic_tax.enabled;
  };
  expect([await taxOf(taxing, 'taxed'), await taxOf(provider, 'untaxed')]).toEqual([true, false]);
});

test('the page of a pack makes an invoice if it is wanted, and that of a plan none', async () => {
  const invoicing = createStripeProvider({
    secretKey: SAMPLE_SECRET_KEY,
    webhookSecrets: ['whsec_1'],
    installationId,
    apiUrl: payments.url,
    packInvoices: true,
  });
  const customer_id = await provider.createCustomer(newAccount());
  const about = { customer_id, quantity: 1, ...urls, metadata: { tollgate_purchase: 'a' } };
  const creationOf = async (by: PaymentProvider, key: string, mode: 'payment' | 'subscription') => {
    const price_id = await by.ensurePrice(price(key, mode === 'payment' ? undefined : 'month'));
    const { session_id } = await by.openCheckout({ ...about, key, mode, price_id });
    return ((await stripeOf(`/checkout/sessions/${session_id}`)) as { invoice_creation: unknown })
      .invoice_creation;
  };
  expect(await creationOf(invoicing, 'pack', 'payment')).toMatchObject({
    enabled: true,
    invoice_data: { metadata: about.metadata },
  });
  expect(await creationOf(provider, 'other-pack', 'payment')).toMatchObject({ enabled: false });
  expect(await creationOf(invoicing, 'plan', 'subscription')).toBeNull();
});

/** As Stripe's API answers. */
async function stripeOf(path: string): Promise<unknown> {
  const response = await fetch(`${payments.url}/v1${path}`, {
    headers: { authorization: `Bearer ${SAMPLE_SECRET_KEY}` },
  });
  return response.json();
}

test('each request that changes something has a key that is derived from our row and step', async () => {
  const payer = await newPayer();
  const { customer_id } = payer;
  const price_id = await provider.ensurePrice(price('sold', 'month'));
  const sold = { key: 'sold', customer_id, price_id, quantity: 1, metadata: {} };
  const { session_id } = await provider.openCheckout({ ...sold, ...urls, mode: 'subscription' });
  await payments.post(`/sample/sessions/${session_id}/pay`);
  const { subscription_id = '' } = (await provider.readCheckout(session_id)) ?? {};
  await provider.expireCheckout(session_id);
  const change = {
    price_id: await provider.ensurePrice(price('sold-as-more', 'month')),
    prorated_at: new Date(),
  };
  await provider.previewChange(subscription_id, change);
  await provider.changeNow(subscription_id, change, 'change:now');
  await provider.changeSubscription(subscription_id, { cancel_at_period_end: true }, 'change:end');
  const paid = await provider.preparePayment(payment('keyed', payer));
  await provider.confirmPayment(paid);
  await provider.refund(paid);
  await provider.cancelPayment(await provider.preparePayment(payment('keyed-too', payer)));
  const period = { start: new Date(), end: new Date() };
  await provider.addInvoiceItem({
    key: 'overage:7',
    customer_id,
    currency: 'eur',
    amount: 50,
    description: '100 points',
    period,
    metadata: {},
  });
  await provider.invoicePendingItems({ key: 'overage:7', customer_id, currency: 'eur' });
  await provider.ensurePortal();
  await provider.openPortal({ customer_id, return_url: 'http://127.0.0.1/' });
  await provider.ensurePortal();
  const wrong = asked.filter(([path, key]) => KEYS[templateOf(path)]?.test(key) !== true);
  expect(wrong).toEqual([]);
  expect([...new Set(asked.map(([path]) => templateOf(path)))].sort()).toEqual(Object.keys(KEYS));
});

const templateOf = (path: string) => `POST ${path.replace(/\/(?:bpc|cs|pi|sub)_[^/]+/, '/{id}')}`;

test('the portal offers cards, addresses, VAT numbers, invoices and an end, and no change of plan or quantity', async () => {
  const id = await provider.ensurePortal();
  const configuration = await stripeOf(`/billing_portal/configurations/${id}`);
  expect(configuration).toMatchObject({
    features: {
      customer_update: { enabled: true, allowed_updates: ['address', 'tax_id'] },
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true },
      subscription_cancel: { enabled: true, mode: 'at_period_end' },
      subscription_update: { enabled: false },
    },
  });
  // Someone has switched changes of plans on: the next synchronisation switches them off.
  const on = { 'features[subscription_update][enabled]': 'true' };
  await payments.post(`/v1/billing_portal/configurations/${id}`, on);
  expect(await stripeOf(`/billing_portal/configurations/${id}`)).toMatchObject({
    features: { subscription_update: { enabled: true } },
  });
  expect(await provider.ensurePortal()).toBe(id);
  expect(await stripeOf(`/billing_portal/configurations/${id}`)).toEqual({
    ...(configuration as object),
    updated: expect.any(Number) as unknown,
  });
});
