import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { Failure, invalid } from '../http/failure.ts';
import { newInvoice, newInvoicePayment } from '../objects/billing.ts';
import type { Invoice, InvoiceLine, InvoicePayment } from '../objects/billing.ts';
import type { Metadata } from '../objects/catalogue.ts';
import { newPaymentIntent } from '../objects/payments.ts';
import type { PaymentIntent, PaymentMethod } from '../objects/payments.ts';
import { confirm, fail, succeed } from './confirm.ts';
import { onInvoicePaid, onInvoiceUnpaid } from './subscription-status.ts';

export function finalize(double: Double, invoice: Invoice): void {
  const { store, clock, origin } = double;
  const customer = store.get('customer', invoice.customer);
  invoice.status = 'open';
  invoice.status_transitions.finalized_at = clock.now();
  invoice.effective_at = clock.now();
  invoice.number = `${customer.invoice_prefix}-${String(customer.next_invoice_sequence).padStart(4, '0')}`;
  customer.next_invoice_sequence += 1;
  invoice.hosted_invoice_url = `${origin}/invoice/${invoice.id}`;
  invoice.invoice_pdf = `${origin}/invoice/${invoice.id}/pdf`;
  emit(double, 'invoice.finalized', invoice);
}

/** Finalizes a draft first. @throws {Failure} card_declined, or if it can't be paid */
export function pay(double: Double, invoice: Invoice, method: PaymentMethod | null): Invoice {
  if (invoice.status === 'draft') finalize(double, invoice);
  if (invoice.status !== 'open') throw invalid(`This invoice is ${invoice.status} and can't be paid.`);
  if (invoice.total <= 0 || charge(double, invoice, method)) markPaid(double, invoice);
  return invoice;
}

/** Of what was paid before it. */
export function invoicePaid(
  double: Double,
  {
    payment_intent,
    ...sold
  }: { customer: string; currency: string; lines: InvoiceLine[]; metadata: Metadata; payment_intent: string },
): Invoice {
  const { store, clock } = double;
  const created = clock.now();
  const { test_clock } = store.get('customer', sold.customer);
  const invoice = store.add(
    newInvoice({ ...sold, created, billing_reason: 'manual', auto_advance: false, test_clock }),
  );
  emit(double, 'invoice.created', invoice);
  finalize(double, invoice);
  settlePayment(double, invoice, store.add(newInvoicePayment({ created, invoice, payment_intent })));
  markPaid(double, invoice);
  return invoice;
}

/** A debit that is under way arrives, or doesn't; with it the invoice that it pays. */
export function settleDebit(double: Double, intent: PaymentIntent, outcome: 'succeeded' | 'failed'): void {
  if (intent.status !== 'processing') return;
  const { store } = double;
  const paying = store.all('invoice_payment').find(({ payment }) => payment.payment_intent === intent.id);
  if (paying !== undefined) settleInvoice(double, store.get('invoice', paying.invoice), outcome);
  else if (outcome === 'succeeded') succeed(double, intent);
  else fail(double, intent, 'insufficient_funds');
}

/** A debit that is under way arrives, or doesn't. */
export function settleInvoice(double: Double, invoice: Invoice, outcome: 'succeeded' | 'failed'): void {
  const { store } = double;
  const payment = store
    .all('invoice_payment')
    .find((one) => one.invoice === invoice.id && one.status === 'open');
  if (payment === undefined) return;
  const intent = store.get('payment_intent', payment.payment.payment_intent);
  if (outcome === 'succeeded') {
    succeed(double, intent);
    settlePayment(double, invoice, payment);
    markPaid(double, invoice);
  } else {
    fail(double, intent, 'insufficient_funds');
    markFailed(double, invoice, payment);
  }
}

function markPaid(double: Double, invoice: Invoice): void {
  const { store, clock } = double;
  invoice.status = 'paid';
  invoice.amount_paid = invoice.total;
  invoice.amount_remaining = 0;
  invoice.attempted = true;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = clock.now();
  store.get('customer', invoice.customer).currency = invoice.currency;
  emit(double, 'invoice.payment_succeeded', invoice);
  emit(double, 'invoice.paid', invoice);
  onInvoicePaid(double, invoice);
}

const NEXT_ATTEMPT_SEC = 3 * 86_400;

/** False while a debit is under way. */
function charge(double: Double, invoice: Invoice, method: PaymentMethod | null): boolean {
  const { store, clock } = double;
  const intent = store.add(
    newPaymentIntent({
      created: clock.now(),
      amount: invoice.total,
      currency: invoice.currency,
      customer: invoice.customer,
      metadata: {},
    }),
  );
  emit(double, 'payment_intent.created', intent);
  const payment = store.add(newInvoicePayment({ created: clock.now(), invoice, payment_intent: intent.id }));
  invoice.attempt_count += 1;
  invoice.attempted = true;
  try {
    if (method === null)
      throw new Failure(402, 'card_error', 'This customer has no attached payment source.');
    confirm(double, intent, method, 'asked');
    if (intent.status === 'requires_action') {
      emit(double, 'invoice.payment_action_required', invoice);
      throw new Failure(402, 'card_error', 'This payment requires additional user action.', {
        code: 'invoice_payment_intent_requires_action',
      });
    }
  } catch (error) {
    if (error instanceof Failure) markFailed(double, invoice, payment);
    throw error;
  }
  if (intent.status === 'processing') {
    emit(double, 'invoice.updated', invoice);
    return false;
  }
  settlePayment(double, invoice, payment);
  return true;
}

function settlePayment({ clock }: Double, invoice: Invoice, payment: InvoicePayment): void {
  payment.status = 'paid';
  payment.amount_paid = invoice.total;
  payment.status_transitions.paid_at = clock.now();
}

function markFailed(double: Double, invoice: Invoice, payment: InvoicePayment): void {
  payment.status = 'canceled';
  invoice.next_payment_attempt = invoice.auto_advance ? double.clock.now() + NEXT_ATTEMPT_SEC : null;
  emit(double, 'invoice.payment_failed', invoice);
  onInvoiceUnpaid(double, invoice);
}
