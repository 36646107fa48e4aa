import { z } from 'zod';
import { emit } from '../double.ts';
import { invalid } from '../http/failure.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { expireSessions, paySession, settleSession } from '../payments/checkout.ts';
import { dispute } from '../payments/confirm.ts';
import { settleDebit, settleInvoice } from '../payments/invoices.ts';
import { failRefund } from '../payments/refund.ts';
import { advanceSubscriptions, forgetSubscriptions } from '../payments/subscriptions.ts';
import { flag, whole } from './input.ts';

const HOLD = z.object({ hold: flag.optional(), copies: whole.pipe(z.int().min(1).max(10)).optional() });
const RELEASE = z.object({ order: z.enum(['kept', 'reversed']).optional() });
const PAY = z.object({ payment_method: z.string().optional() });
const SETTLE = z.object({ outcome: z.enum(['succeeded', 'failed']) });
/** A negative number begins in the past, so that a renewal comes soon. */
const ADVANCE = z.object({ seconds: whole });
const OUTAGE = z.object({ on: flag });
const DISPUTE = z.object({ status: z.enum(['needs_response', 'warning_needs_response']).optional() });
const CLOSE = z.object({ status: z.enum(['won', 'lost', 'warning_closed']) });

/** What Stripe has no API for: what customers, banks and time do. */
export const SAMPLE: Route[] = [
  route('POST /sample/deliveries', ({ double, input }) => {
    const { hold, copies } = read(HOLD, input);
    double.deliveries.plan({ ...(hold !== undefined && { hold }), ...(copies !== undefined && { copies }) });
    return {};
  }),
  route('GET /sample/deliveries', ({ double }) => ({ pending: double.deliveries.pending() })),
  route('POST /sample/deliveries/release', ({ double, input }) => ({
    released: double.deliveries.release(read(RELEASE, input).order ?? 'kept'),
  })),
  // Everything of /v1 is answered with 503 until it is over.
  route('POST /sample/outage', ({ double, input }) => {
    double.outage.isOn = read(OUTAGE, input).on;
    return {};
  }),
  route('POST /sample/clock', ({ double, input }) => {
    double.clock.advance(read(ADVANCE, input).seconds);
    expireSessions(double);
    advanceSubscriptions(double);
    return { now: double.clock.now() };
  }),
  route('POST /sample/subscriptions/forget', ({ double }) => {
    forgetSubscriptions(double);
    return {};
  }),
  route('POST /sample/sessions/{id}/pay', ({ double, id, input }) => {
    const session = double.store.get('checkout.session', id);
    paySession(double, session, read(PAY, input).payment_method ?? 'pm_card_visa');
    return session;
  }),
  route('POST /sample/sessions/{id}/settle', ({ double, id, input }) => {
    const session = double.store.get('checkout.session', id);
    settleSession(double, session, read(SETTLE, input).outcome);
    return session;
  }),
  route('POST /sample/invoices/{id}/settle', ({ double, id, input }) => {
    const invoice = double.store.get('invoice', id);
    settleInvoice(double, invoice, read(SETTLE, input).outcome);
    return invoice;
  }),
  route('POST /sample/payments/{id}/settle', ({ double, id, input }) => {
    const intent = double.store.get('payment_intent', id);
    settleDebit(double, intent, read(SETTLE, input).outcome);
    return intent;
  }),
  route('POST /sample/refunds/{id}/fail', ({ double, id }) =>
    failRefund(double, double.store.get('refund', id)),
  ),
  route('POST /sample/charges/{id}/dispute', ({ double, id, input }) =>
    dispute(double, double.store.get('charge', id), read(DISPUTE, input).status ?? 'needs_response'),
  ),
  route('POST /sample/disputes/{id}/close', ({ double, id, input }) => {
    const opened = double.store.get('dispute', id);
    if (['won', 'lost', 'warning_closed'].includes(opened.status)) throw invalid('This dispute is closed.');
    const previous = { status: opened.status };
    opened.status = read(CLOSE, input).status;
    emit(double, 'charge.dispute.closed', opened, previous);
    return opened;
  }),
];
