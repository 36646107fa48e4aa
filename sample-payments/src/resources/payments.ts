import { z } from 'zod';
import { checkCharge, checkCurrency } from '../currencies.ts';
import { emit } from '../double.ts';
import { invalid } from '../http/failure.ts';
import { read, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { newPaymentIntent } from '../objects/payments.ts';
import { newSetupIntent } from '../objects/setup-intent.ts';
import { confirm, methodOf } from '../payments/confirm.ts';
import { refund } from '../payments/refund.ts';
import { flag, metadata, whole } from './input.ts';
import { getRoute, listRoute } from './list.ts';

const intentSchema = z.object({
  amount: whole,
  currency: z.string(),
  customer: z.string().optional(),
  description: z.string().optional(),
  metadata: metadata.optional(),
  payment_method: z.string().optional(),
  confirm: flag.optional(),
  off_session: flag.optional(),
});
const confirmSchema = z.object({ payment_method: z.string().optional(), off_session: flag.optional() });
const setupSchema = z.object({
  customer: z.string(),
  payment_method: z.string(),
  confirm: z.literal('true'),
  mandate_data: z.object({ customer_acceptance: z.looseObject({ type: z.enum(['offline', 'online']) }) }),
});
const refundSchema = z.object({
  payment_intent: z.string().optional(),
  charge: z.string().optional(),
  amount: whole.pipe(z.int().min(1)).optional(),
  reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
  metadata: metadata.optional(),
});

export const PAYMENTS: Route[] = [
  route('POST /v1/payment_intents', ({ double, input }) => {
    const { store, clock } = double;
    const wanted = read(intentSchema, input);
    const currency = checkCurrency(wanted.currency);
    checkCharge(wanted.amount, currency);
    if (wanted.customer !== undefined) store.get('customer', wanted.customer, 'customer');
    const method = wanted.payment_method === undefined ? null : methodOf(double, wanted.payment_method);
    const intent = store.add(
      newPaymentIntent({ ...wanted, created: clock.now(), currency, payment_method: method?.id }),
    );
    emit(double, 'payment_intent.created', intent);
    if (method !== null) intent.status = 'requires_confirmation';
    if (wanted.confirm === true) {
      if (method === null) throw invalid('You cannot confirm this PaymentIntent without a payment method.');
      confirm(double, intent, method, wanted.off_session === true ? 'absent' : 'asked');
    }
    return intent;
  }),
  listRoute('/v1/payment_intents', 'payment_intent'),
  getRoute('/v1/payment_intents', 'payment_intent'),
  route('POST /v1/payment_intents/{id}/confirm', ({ double, id, input }) => {
    const intent = double.store.get('payment_intent', id);
    const wanted = read(confirmSchema, input);
    const method = wanted.payment_method ?? intent.payment_method;
    if (method === null || intent.status === 'succeeded' || intent.status === 'canceled') {
      throw invalid(`This PaymentIntent's status is ${intent.status}.`, {
        code: 'payment_intent_unexpected_state',
      });
    }
    confirm(double, intent, methodOf(double, method), wanted.off_session === true ? 'absent' : 'asked');
    return intent;
  }),
  route('POST /v1/payment_intents/{id}/cancel', ({ double, id }) => {
    const intent = double.store.get('payment_intent', id);
    if (intent.status === 'succeeded') {
      throw invalid('A PaymentIntent that succeeded cannot be canceled.', {
        code: 'payment_intent_unexpected_state',
      });
    }
    intent.status = 'canceled';
    intent.canceled_at = double.clock.now();
    emit(double, 'payment_intent.canceled', intent);
    return intent;
  }),
  // A debit needs a mandate before it can be charged without the customer.
  route('POST /v1/setup_intents', ({ double, input }) => {
    const { store, clock } = double;
    const wanted = read(setupSchema, input);
    const { id: customer } = store.get('customer', wanted.customer, 'customer');
    const method = methodOf(double, wanted.payment_method);
    method.customer = customer;
    emit(double, 'payment_method.attached', method);
    const intent = store.add(newSetupIntent({ created: clock.now(), customer, method }));
    emit(double, 'setup_intent.succeeded', intent);
    return intent;
  }),
  listRoute('/v1/charges', 'charge'),
  getRoute('/v1/charges', 'charge'),
  route('POST /v1/refunds', ({ double, input }) => {
    const { store } = double;
    const wanted = read(refundSchema, input);
    const intent =
      wanted.payment_intent === undefined
        ? undefined
        : store.get('payment_intent', wanted.payment_intent, 'payment_intent');
    const charge = wanted.charge ?? intent?.latest_charge ?? null;
    if (charge === null) throw invalid('This PaymentIntent does not have a successful charge to refund.');
    return refund(double, store.get('charge', charge, 'charge'), wanted);
  }),
  listRoute('/v1/refunds', 'refund'),
  getRoute('/v1/refunds', 'refund'),
  listRoute('/v1/disputes', 'dispute'),
  getRoute('/v1/disputes', 'dispute'),
];
