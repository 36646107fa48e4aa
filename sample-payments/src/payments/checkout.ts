import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { newCustomer } from '../objects/catalogue.ts';
import type { CheckoutSession } from '../objects/checkout-session.ts';
import { newPaymentIntent } from '../objects/payments.ts';
import { confirm, fail, methodOf, refusalOf, succeed } from './confirm.ts';
import { invoicePaid } from './invoices.ts';
import { startSubscription } from './subscriptions.ts';

export function expireSession(double: Double, session: CheckoutSession): CheckoutSession {
  session.status = 'expired';
  session.url = null;
  emit(double, 'checkout.session.expired', session);
  return session;
}

/** Sessions whose time is over by the clock. */
export function expireSessions(double: Double): void {
  const { store, clock } = double;
  for (const session of store.all('checkout.session')) {
    if (session.status === 'open' && session.expires_at <= clock.now()) expireSession(double, session);
  }
}

/**
 * What the page's buttons do. A declined card leaves the session open.
 * @throws {Failure} card_declined
 */
export function paySession(double: Double, session: CheckoutSession, testMethod: string): void {
  const { store, clock } = double;
  const terms = store.terms[session.id];
  if (terms === undefined || session.status !== 'open') return;
  const now = clock.now();
  const method = methodOf(double, testMethod);
  if (session.mode === 'subscription') {
    const refusal = refusalOf(method);
    if (refusal !== undefined) throw refusal;
    const customer =
      session.customer ??
      store.add(newCustomer({ created: now, email: session.customer_email ?? undefined })).id;
    method.customer = customer;
    const items = terms.lines.map(({ price, quantity }) => ({ price: store.get('price', price), quantity }));
    const subscription = startSubscription(double, {
      customer,
      items,
      default_payment_method: method.id,
      metadata: terms.subscriptionMetadata,
    });
    session.subscription = subscription.id;
    session.invoice = subscription.latest_invoice;
    session.customer = customer;
    session.payment_status = subscription.status === 'active' ? 'paid' : 'unpaid';
  } else {
    const intent = store.add(
      newPaymentIntent({
        created: now,
        amount: session.amount_total,
        currency: session.currency,
        customer: session.customer,
        metadata: terms.intentMetadata,
        setup_future_usage: terms.setupFutureUsage,
      }),
    );
    emit(double, 'payment_intent.created', intent);
    confirm(double, intent, method);
    session.payment_intent = intent.id;
    session.payment_status = intent.status === 'succeeded' ? 'paid' : 'unpaid';
  }
  session.status = 'complete';
  session.url = null;
  emit(double, 'checkout.session.completed', session);
  if (session.mode === 'payment' && session.payment_status === 'paid') invoiceSession(double, session);
}

/** What was paid on a page, if the page was opened so. */
function invoiceSession(double: Double, session: CheckoutSession): void {
  const { store, clock } = double;
  const { customer, payment_intent, currency } = session;
  const terms = store.terms[session.id];
  if (terms === undefined || customer === null || payment_intent === null) return;
  if (terms.invoiceMetadata === null) return;
  const period = { start: clock.now(), end: clock.now() };
  const lines = terms.lines.map(({ amount, description, price }) => ({
    amount,
    description,
    period,
    metadata: {},
    price: store.get('price', price),
  }));
  const metadata = terms.invoiceMetadata;
  session.invoice = invoicePaid(double, { customer, currency, lines, metadata, payment_intent }).id;
}

/** A debit that is under way arrives, or doesn't. */
export function settleSession(
  double: Double,
  session: CheckoutSession,
  outcome: 'succeeded' | 'failed',
): void {
  if (session.payment_intent === null) return;
  const intent = double.store.get('payment_intent', session.payment_intent);
  if (intent.status !== 'processing') return;
  if (outcome === 'succeeded') {
    succeed(double, intent);
    session.payment_status = 'paid';
    emit(double, 'checkout.session.async_payment_succeeded', session);
    invoiceSession(double, session);
  } else {
    fail(double, intent, 'insufficient_funds');
    emit(double, 'checkout.session.async_payment_failed', session);
  }
}
