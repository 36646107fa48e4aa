import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import { waitFor } from '@tollgate/stack/wait-for';
import { installStripeCli, startStripeMock } from '@tollgate/testbed/payments/judges';
import { judgePayments } from '@tollgate/testbed/payments/judged-payments';
import type { JudgedPayments } from '@tollgate/testbed/payments/judged-payments';
import { createApp } from './app.ts';
import { API_VERSION } from './objects/event.ts';

const SECRET_KEY = 'sk_test_123456789012345678901234';
const WEBHOOK_SECRET = 'whsec_sample';
const SUCCESS = 'http://127.0.0.1/paid?session={CHECKOUT_SESSION_ID}';

type Received = { event: Stripe.Event; raw: string; signature: string };

let receiver: Server;
let app: ReturnType<typeof createApp>;
let judged: JudgedPayments | null = null;
let stripe: Stripe;
let base: string;
/** What the receiver answers. */
let receiverStatus = 200;
const received: Received[] = [];

beforeAll(async () => {
  receiver = await listening(
    createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const signature = String(req.headers['stripe-signature']);
        if (receiverStatus === 200) {
          received.push({
            event: stripe.webhooks.constructEvent(raw, signature, WEBHOOK_SECRET),
            raw,
            signature,
          });
        }
        res.writeHead(receiverStatus).end();
      });
    }),
  );
  const webhook = { url: `${urlOf(receiver)}/events`, secret: WEBHOOK_SECRET };
  app = createApp({ host: '127.0.0.1', secretKey: SECRET_KEY, webhook, statePath: null });
  await listening(app.server);
  base = urlOf(app.server);
  const mock = await startStripeMock();
  if (mock !== null) judged = await judgePayments(base, mock);
  stripe = clientOf(judged?.url ?? base);
});

afterAll(async () => {
  await judged?.close();
  await app.close();
  receiver.closeAllConnections();
  receiver.close();
});

beforeEach(() => {
  received.length = 0;
});

function clientOf(url: string, key = SECRET_KEY): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
}

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

async function sample(path: string, form: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const response = await fetch(`${base}/sample/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET_KEY}` },
    body: new URLSearchParams(form),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function pending(): Promise<unknown> {
  const response = await fetch(`${base}/sample/deliveries`, {
    headers: { authorization: `Bearer ${SECRET_KEY}` },
  });
  return ((await response.json()) as Record<string, unknown>)['pending'];
}

const idOf = (value: string | { id: string } | null) => (typeof value === 'object' ? value?.id : value) ?? '';

const typesOf = (): string[] => received.map(({ event }) => event.type);

const arrival = (type: string) => waitFor(() => typesOf().includes(type), { what: type });

async function newPrice(unit_amount = 1_200, recurring?: { interval: 'month' }): Promise<Stripe.Price> {
  const product = await stripe.products.create({ name: '10,000 points' });
  return stripe.prices.create({
    product: product.id,
    currency: 'eur',
    unit_amount,
    ...(recurring && { recurring }),
  });
}

async function newSession(changes: Partial<Stripe.Checkout.SessionCreateParams> = {}) {
  const price = await newPrice();
  return stripe.checkout.sessions.create({
    mode: 'payment',
    line_items: [{ price: price.id, quantity: 2 }],
    success_url: SUCCESS,
    client_reference_id: 'purchase-1',
    metadata: { purchase_id: '1' },
    payment_intent_data: { metadata: { purchase_id: '1' } },
    ...changes,
  });
}

/** The error object of what is refused. */
async function refusal(request: Promise<unknown>) {
  const error: unknown = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Stripe.errors.StripeError)) throw new Error('It was not refused.');
  return { status: error.statusCode, type: error.rawType, code: error.code, param: error.param };
}

describe('checkout', () => {
  test('a paid session has a payment, and its events arrive signed and in order', async () => {
    const session = await newSession();
    expect(session).toMatchObject({
      status: 'open',
      amount_total: 2_400,
      currency: 'eur',
      payment_intent: null,
    });
    const page = await fetch(session.url ?? '');
    expect(await page.text()).toContain('Sample payment page');
    const paid = await fetch(session.url ?? '', {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_card_visa' }),
      redirect: 'manual',
    });
    expect(paid.headers.get('location')).toBe(`http://127.0.0.1/paid?session=${session.id}`);
    const now = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ['payment_intent.latest_charge'],
    });
    expect(now).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      payment_intent: { status: 'succeeded', metadata: { purchase_id: '1' }, latest_charge: { paid: true } },
    });
    await arrival('checkout.session.completed');
    const event = received.find(({ event: { type } }) => type === 'checkout.session.completed')?.event;
    expect(event).toMatchObject({ api_version: API_VERSION, pending_webhooks: 1, livemode: false });
    const { id } = event ?? { id: '' };
    await waitFor(async () => (await stripe.events.retrieve(id)).pending_webhooks === 0);
  });

  test('a declined card leaves the session open', async () => {
    const session = await newSession();
    const answer = await fetch(session.url ?? '', {
      method: 'POST',
      body: new URLSearchParams({ payment_method: 'pm_card_chargeCustomerFail' }),
    });
    expect(await answer.text()).toContain('Your card was declined.');
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
      status: 'open',
      payment_status: 'unpaid',
    });
    await arrival('payment_intent.payment_failed');
  });

  test.each(['succeeded', 'failed'] as const)('a bank debit is unpaid until it has %s', async (outcome) => {
    const session = await newSession();
    await sample(`sessions/${session.id}/pay`, { payment_method: 'pm_sepa_debit' });
    const now = await stripe.checkout.sessions.retrieve(session.id);
    expect(now).toMatchObject({ status: 'complete', payment_status: 'unpaid' });
    await sample(`sessions/${session.id}/settle`, { outcome });
    await arrival(`checkout.session.async_payment_${outcome}`);
  });

  test('expires on request, and by the clock', async () => {
    const [asked, late] = [await newSession(), await newSession()];
    expect(await stripe.checkout.sessions.expire(asked.id)).toMatchObject({ status: 'expired', url: null });
    expect(await refusal(stripe.checkout.sessions.expire(asked.id))).toMatchObject({ status: 400 });
    await sample('clock', { seconds: String(25 * 3_600) });
    expect(await stripe.checkout.sessions.retrieve(late.id)).toMatchObject({ status: 'expired' });
  });
});

describe('refuses what Stripe refuses and stripe-mock takes', () => {
  test('another body with the same key; the same one gets the same answer', async () => {
    const options = { idempotencyKey: crypto.randomUUID() };
    const first = await stripe.customers.create({ email: 'a@example.com' }, options);
    expect(await stripe.customers.create({ email: 'a@example.com' }, options)).toMatchObject({
      id: first.id,
    });
    expect(await refusal(stripe.customers.create({ email: 'b@example.com' }, options))).toMatchObject({
      status: 400,
      type: 'idempotency_error',
    });
    await sample('clock', { seconds: String(24 * 3_600) });
    expect((await stripe.customers.create({ email: 'b@example.com' }, options)).id).not.toBe(first.id);
  });

  test('amounts out of bounds, unknown currencies and prices, and a hosted page without a way back', async () => {
    const cheap = await newPrice(49);
    const line_items = [{ price: cheap.id, quantity: 1 }];
    const create = (params: Stripe.Checkout.SessionCreateParams) =>
      refusal(stripe.checkout.sessions.create(params));
    expect(await create({ mode: 'payment', line_items, success_url: SUCCESS })).toMatchObject({
      code: 'amount_too_small',
    });
    expect(await create({ mode: 'payment', line_items })).toMatchObject({ param: 'success_url' });
    const unknown = [{ price: 'price_unknown', quantity: 1 }];
    expect(await create({ mode: 'payment', line_items: unknown, success_url: SUCCESS })).toMatchObject({
      code: 'resource_missing',
    });
    const priced = await newPrice();
    const second = [{ price: priced.id, quantity: 1 }, ...unknown];
    expect(await create({ mode: 'payment', line_items: second, success_url: SUCCESS })).toMatchObject({
      param: 'line_items[1][price]',
    });
    const product = await stripe.products.create({ name: 'x' });
    expect(
      await refusal(stripe.prices.create({ product: product.id, currency: 'zzz', unit_amount: 100 })),
    ).toMatchObject({ param: 'currency' });
    expect(
      await refusal(stripe.prices.create({ product: product.id, currency: 'eur', unit_amount: -5 })),
    ).toMatchObject({ param: 'unit_amount' });
  });

  test('a second currency of a customer who has subscribed', async () => {
    const customer = await stripe.customers.create({
      payment_method: 'pm_card_visa',
      invoice_settings: { default_payment_method: 'pm_card_visa' },
    });
    const monthly = await newPrice(900, { interval: 'month' });
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }],
    });
    expect(subscription.status).toBe('active');
    const dollars = await stripe.prices.create({
      product: monthly.product as string,
      currency: 'usd',
      unit_amount: 900,
      recurring: { interval: 'month' },
    });
    const second = stripe.checkout.sessions.create({
      mode: 'subscription',
      customer: customer.id,
      line_items: [{ price: dollars.id, quantity: 1 }],
      success_url: SUCCESS,
    });
    expect(await refusal(second)).toMatchObject({ status: 400, param: 'customer' });
  });

  test('refunds beyond what was paid', async () => {
    const session = await newSession();
    await sample(`sessions/${session.id}/pay`);
    const { payment_intent } = await stripe.checkout.sessions.retrieve(session.id);
    const intent = idOf(payment_intent);
    await stripe.refunds.create({ payment_intent: intent, amount: 1_000 });
    expect(await refusal(stripe.refunds.create({ payment_intent: intent, amount: 1_401 }))).toMatchObject({
      param: 'amount',
    });
    await stripe.refunds.create({ payment_intent: intent });
    expect(await refusal(stripe.refunds.create({ payment_intent: intent }))).toMatchObject({
      code: 'charge_already_refunded',
    });
  });

  test('objects from outside the asked time', async () => {
    const { id, created } = await stripe.customers.create({ email: 'listed@example.com' });
    const idsOf = async (range: Stripe.RangeQueryParam) =>
      (await stripe.customers.list({ created: range, limit: 100 })).data.map((customer) => customer.id);
    expect(await idsOf({ gte: created })).toContain(id);
    expect(await idsOf({ gt: created - 1, lte: created })).toContain(id);
    expect(await idsOf({ gt: created })).not.toContain(id);
  });

  test('another key', async () => {
    expect(await refusal(clientOf(base, 'sk_test_another').customers.list())).toMatchObject({ status: 401 });
  });
});

describe('events', () => {
  test('are tried again until they are acknowledged', async () => {
    receiverStatus = 500;
    await stripe.customers.create({ email: 'later@example.com' });
    expect(await pending()).not.toBe(0);
    receiverStatus = 200;
    await arrival('customer.created');
    await waitFor(async () => (await pending()) === 0);
  });

  test('held back, doubled and reversed on demand', async () => {
    await sample('deliveries', { hold: 'true', copies: '2' });
    const customer = await stripe.customers.create({ email: 'a@example.com' });
    await stripe.customers.update(customer.id, { name: 'A' });
    expect(typesOf()).toEqual([]);
    await sample('deliveries', { hold: 'false' });
    expect(await sample('deliveries/release', { order: 'reversed' })).toEqual({ released: 2 });
    await waitFor(() => received.length === 4);
    await sample('deliveries', { copies: '1' });
    expect(new Set(received.map(({ event }) => event.id)).size).toBe(2);
  });
});

describe('subscriptions', () => {
  test('renew by the clock: a draft at the border, paid an hour later', async () => {
    const customer = await stripe.customers.create({
      payment_method: 'pm_card_visa',
      invoice_settings: { default_payment_method: 'pm_card_visa' },
    });
    const price = await newPrice(900, { interval: 'month' });
    const { id, items } = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
    });
    const end = items.data[0]?.current_period_end ?? 0;
    const { now } = await sample('clock', { seconds: '1' });
    received.length = 0;
    await sample('clock', { seconds: String(end - Number(now)) });
    const draft = (await stripe.invoices.list({ customer: customer.id })).data[0];
    expect(draft).toMatchObject({ status: 'draft', billing_reason: 'subscription_cycle', amount_due: 900 });
    await sample('clock', { seconds: '3600' });
    expect(await stripe.invoices.retrieve(draft?.id ?? '')).toMatchObject({
      status: 'paid',
      amount_paid: 900,
    });
    await stripe.subscriptions.update(id, { cancel_at_period_end: true });
    await sample('clock', { seconds: String(32 * 86_400) });
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({ status: 'canceled' });
    await arrival('customer.subscription.deleted');
  });
});

describe('test clocks', () => {
  const HOUR_SEC = 3_600;

  /** A subscription that began so long ago by its clock. */
  async function onClock(agoSec: number, payment_method = 'pm_card_visa') {
    const frozen_time = Math.floor(Date.now() / 1_000) - agoSec;
    const clock = await stripe.testHelpers.testClocks.create({ frozen_time, name: 'suite' });
    const customer = await stripe.customers.create({
      test_clock: clock.id,
      payment_method: 'pm_card_visa',
      invoice_settings: { default_payment_method: 'pm_card_visa' },
    });
    const price = await newPrice(900, { interval: 'month' });
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
    });
    await stripe.subscriptions.update(subscription.id, { default_payment_method: payment_method });
    const advance = (to: number) => stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: to });
    return { clock, customer, subscription, border: borderOf(subscription), advance };
  }

  const borderOf = ({ items }: Stripe.Subscription) => items.data[0]?.current_period_end ?? 0;

  const latestOf = async (customer: string) => (await stripe.invoices.list({ customer })).data[0];

  test('move what is on them, and nothing else', async () => {
    const { clock, customer, subscription, border, advance } = await onClock(40 * 86_400);
    const other = await onClock(40 * 86_400);
    expect(subscription).toMatchObject({ test_clock: clock.id, created: clock.frozen_time });
    expect(await latestOf(customer.id)).toMatchObject({ status: 'paid', test_clock: clock.id });
    expect(await advance(border)).toMatchObject({ status: 'advancing' });
    expect(await stripe.testHelpers.testClocks.retrieve(clock.id)).toMatchObject({
      status: 'ready',
      frozen_time: border,
    });
    expect(await latestOf(customer.id)).toMatchObject({ status: 'draft', created: border });
    expect(borderOf(await stripe.subscriptions.retrieve(other.subscription.id))).toBe(other.border);
    await advance(border + HOUR_SEC - 1);
    expect(await latestOf(customer.id)).toMatchObject({ status: 'draft' });
    await advance(border + HOUR_SEC);
    expect(await latestOf(customer.id)).toMatchObject({ status: 'paid' });
    await arrival('test_helpers.test_clock.ready');
  });

  test('are refused a time that is past or too far ahead', async () => {
    const { border, clock, advance } = await onClock(0);
    for (const to of [clock.frozen_time, border + 40 * 86_400]) {
      expect(await refusal(advance(to))).toMatchObject({ status: 400, param: 'frozen_time' });
    }
  });

  test('are listed only where they are asked for, and deleted with their customers', async () => {
    const { clock, customer, subscription } = await onClock(0);
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const limit = 100;
    expect(idsOf(await stripe.customers.list({ limit }))).not.toContain(customer.id);
    expect(idsOf(await stripe.customers.list({ test_clock: clock.id }))).toEqual([customer.id]);
    expect(idsOf(await stripe.subscriptions.list({ limit }))).not.toContain(subscription.id);
    expect(idsOf(await stripe.subscriptions.list({ customer: customer.id }))).toEqual([subscription.id]);
    const draft = await stripe.invoices.create({ customer: customer.id, auto_advance: true });
    await stripe.testHelpers.testClocks.del(clock.id);
    expect(await refusal(stripe.customers.retrieve(customer.id))).toMatchObject({ status: 404 });
    expect(await refusal(stripe.invoices.retrieve(draft.id))).toMatchObject({ status: 404 });
    expect(await stripe.subscriptions.retrieve(subscription.id)).toMatchObject({ status: 'canceled' });
    expect(idsOf(await stripe.testHelpers.testClocks.list({ limit }))).not.toContain(clock.id);
  });

  test('a renewal by a card that needs authentication waits for the customer', async () => {
    const { customer, border, advance } = await onClock(0, 'pm_card_authenticationRequired');
    await advance(border);
    await advance(border + HOUR_SEC);
    const invoice = await latestOf(customer.id);
    expect(invoice).toMatchObject({ status: 'open', attempt_count: 1 });
    await arrival('invoice.payment_action_required');
    await arrival('invoice.payment_failed');
    const paying = (payment_method: string) => stripe.invoices.pay(invoice?.id ?? '', { payment_method });
    expect(await refusal(paying('pm_card_authenticationRequired'))).toMatchObject({
      code: 'invoice_payment_intent_requires_action',
    });
    expect(await paying('pm_card_visa')).toMatchObject({ status: 'paid' });
  });
});

test('a card that needs authentication is declined while the customer is absent', async () => {
  const wanted = {
    amount: 900,
    currency: 'eur',
    payment_method: 'pm_card_authenticationRequired',
    confirm: true,
  };
  expect(await refusal(stripe.paymentIntents.create({ ...wanted, off_session: true }))).toMatchObject({
    status: 402,
    code: 'authentication_required',
  });
  expect(await stripe.paymentIntents.create(wanted)).toMatchObject({ status: 'requires_action' });
});

test.each(['succeeded', 'failed'] as const)(
  'a debit by mandate is under way until it has %s',
  async (outcome) => {
    const customer = await stripe.customers.create({ email: 'debit@example.com' });
    const method = await stripe.paymentMethods.create({
      type: 'sepa_debit',
      sepa_debit: { iban: 'AT321904300235473204' },
      billing_details: { name: 'A', email: 'debit@example.com' },
    });
    const setup = await stripe.setupIntents.create({
      customer: customer.id,
      payment_method: method.id,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
      mandate_data: {
        customer_acceptance: { type: 'online', online: { ip_address: '127.0.0.1', user_agent: 'suite' } },
      },
    });
    expect(setup).toMatchObject({ status: 'succeeded', payment_method: method.id });
    const payment = await stripe.paymentIntents.create({
      amount: 900,
      currency: 'eur',
      customer: customer.id,
      payment_method: method.id,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
      off_session: true,
    });
    expect(payment.status).toBe('processing');
    await sample(`payments/${payment.id}/settle`, { outcome });
    const status = outcome === 'succeeded' ? 'succeeded' : 'requires_payment_method';
    expect(await stripe.paymentIntents.retrieve(payment.id)).toMatchObject({ status });
    await stripe.customers.del(customer.id);
    expect(await refusal(stripe.customers.retrieve(customer.id))).toMatchObject({ status: 404 });
  },
);

test('the state is saved by what changes it, without keys that are older than a day', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sample-payments-'));
  const statePath = join(directory, 'state.json');
  const kept = createApp({ host: '127.0.0.1', secretKey: SECRET_KEY, webhook: null, statePath });
  try {
    const url = urlOf(await listening(kept.server));
    const state = () => JSON.parse(readFileSync(statePath, 'utf8')) as { keys: Record<string, unknown> };
    await clientOf(url).customers.create({}, { idempotencyKey: 'first' });
    expect(Object.keys(state().keys)).toEqual(['first']);
    rmSync(statePath);
    expect((await fetch(`${url}/pay/unknown`)).status).toBe(404);
    await clientOf(url).customers.list();
    expect(existsSync(statePath)).toBe(false);
    const body = new URLSearchParams({ seconds: String(24 * 3_600) });
    const headers = { authorization: `Bearer ${SECRET_KEY}` };
    expect((await fetch(`${url}/sample/clock`, { method: 'POST', headers, body })).status).toBe(200);
    expect(state().keys).toEqual({});
  } finally {
    await kept.close();
    rmSync(directory, { recursive: true });
  }
});

describe('judged by what others wrote', () => {
  test('disputes, portal and failed refunds have the shapes of Stripe', async () => {
    const session = await newSession();
    await sample(`sessions/${session.id}/pay`);
    const { payment_intent } = await stripe.checkout.sessions.retrieve(session.id);
    const { latest_charge } = await stripe.paymentIntents.retrieve(idOf(payment_intent));
    const dispute = await sample(`charges/${idOf(latest_charge)}/dispute`);
    await sample(`disputes/${String(dispute['id'])}/close`, { status: 'won' });
    expect(await stripe.disputes.retrieve(String(dispute['id']))).toMatchObject({ status: 'won' });
    const refund = await stripe.refunds.create({ payment_intent: idOf(payment_intent), amount: 100 });
    await sample(`refunds/${refund.id}/fail`);
    expect(await stripe.refunds.retrieve(refund.id)).toMatchObject({ status: 'failed' });
    const customer = await stripe.customers.create({ name: 'A' });
    await stripe.billingPortal.configurations.create({
      features: { payment_method_update: { enabled: true }, invoice_history: { enabled: true } },
    });
    const portal = await stripe.billingPortal.sessions.create({
      customer: customer.id,
      return_url: 'http://127.0.0.1/plan',
    });
    expect(await (await fetch(portal.url)).text()).toContain('Payment details');
    await arrival('refund.failed');
  });

  test('the five triggers of the Stripe CLI run through, and their events arrive', async () => {
    const cli = await installStripeCli();
    if (cli === null) return;
    for (const type of [
      'invoice.paid',
      'charge.refunded',
      'charge.dispute.created',
      'customer.subscription.updated',
      'invoice.payment_failed',
    ]) {
      const args = ['trigger', type, '--api-key', SECRET_KEY, '--api-base', judged?.url ?? base];
      const run = promisify(execFile)(cli, args, {
        env: { STRIPE_CLI_TELEMETRY_OPTOUT: '1', HOME: '/nonexistent' },
      });
      expect((await run).stdout).toContain('Trigger succeeded');
      await arrival(type);
    }
  });

  test('Stripe took every request and would have given every answer and event', async () => {
    if (judged === null) return;
    expect(judged.faults).toEqual([]);
    const { data } = await stripe.events.list({ limit: 100 });
    expect(data.length).toBeGreaterThan(50);
    const { checkEvent } = judged.document;
    expect(data.flatMap((event) => checkEvent(event))).toEqual([]);
    expect(checkEvent({ ...data[0], type: undefined })).toEqual([
      "event:  must have required property 'type'",
    ]);
  });
});
