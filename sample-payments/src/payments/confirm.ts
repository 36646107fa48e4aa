import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { declined } from '../http/failure.ts';
import { newCharge, newDispute, newPaymentMethod } from '../objects/payments.ts';
import type { Charge, DisputeStatus, PaymentIntent, PaymentMethod } from '../objects/payments.ts';

/** Stripe's test methods that we know, and what paying by one does (docs.stripe.com/testing). */
const BEHAVIOURS: Record<string, { decline?: string; dispute?: DisputeStatus; later?: true }> = {
  pm_card_visa: {},
  pm_card_chargeCustomerFail: { decline: 'generic_decline' },
  pm_card_visa_chargeDeclined: { decline: 'generic_decline' },
  pm_card_visa_chargeDeclinedLostCard: { decline: 'lost_card' },
  pm_card_visa_chargeDeclinedStolenCard: { decline: 'stolen_card' },
  pm_card_visa_chargeDeclinedFraudulent: { decline: 'fraudulent' },
  pm_card_authenticationRequired: { decline: 'authentication_required' },
  pm_card_createDispute: { dispute: 'needs_response' },
  pm_card_createDisputeInquiry: { dispute: 'warning_needs_response' },
  pm_sepa_debit: { later: true },
};

/** A stored method, or a new one of a test method's name. @throws {Failure} resource_missing */
export function methodOf({ store, clock }: Double, id: string): PaymentMethod {
  if (!Object.hasOwn(BEHAVIOURS, id)) return store.get('payment_method', id, 'payment_method');
  const type = id === 'pm_sepa_debit' ? 'sepa_debit' : 'card';
  return store.add(newPaymentMethod({ created: clock.now(), behaviour: id, type }));
}

const AUTHENTICATION_REQUIRED = 'authentication_required';

const DECLINED_MESSAGE = 'Your card was declined.';

/**
 * Takes the money, or leaves the intent `processing` (debits), or `requires_action` if the customer is asked to
 * authenticate. One who is absent can't be asked.
 * @throws {Failure} card_declined, authentication_required; the intent then waits for another method
 */
export function confirm(
  double: Double,
  intent: PaymentIntent,
  method: PaymentMethod,
  customer: 'absent' | 'asked' = 'absent',
): void {
  const behaviour = BEHAVIOURS[method.metadata['sample_behaviour'] ?? ''] ?? {};
  intent.payment_method = method.id;
  if (behaviour.later === true) {
    intent.status = 'processing';
    intent.payment_method_types = ['sepa_debit'];
    emit(double, 'payment_intent.processing', intent);
    return;
  }
  const { decline } = behaviour;
  if (decline === AUTHENTICATION_REQUIRED && customer === 'asked') {
    intent.status = 'requires_action';
    intent.next_action = { type: 'use_stripe_sdk', use_stripe_sdk: {} };
    emit(double, 'payment_intent.requires_action', intent);
    return;
  }
  if (decline !== undefined) throw fail(double, intent, decline);
  const charge = succeed(double, intent);
  if (behaviour.dispute !== undefined) dispute(double, charge, behaviour.dispute);
}

/** What paying by a method is refused with; undefined if it isn't. */
export function refusalOf(method: PaymentMethod) {
  const decline = BEHAVIOURS[method.metadata['sample_behaviour'] ?? '']?.decline;
  if (decline === undefined) return undefined;
  return declined({ code: codeOf(decline), decline_code: decline }, DECLINED_MESSAGE);
}

export function succeed(double: Double, intent: PaymentIntent): Charge {
  const { store, clock } = double;
  const payment_method = intent.payment_method ?? '';
  const charge = store.add(newCharge({ created: clock.now(), intent, payment_method, failure: null }));
  intent.status = 'succeeded';
  intent.amount_received = intent.amount;
  intent.latest_charge = charge.id;
  intent.last_payment_error = null;
  intent.next_action = null;
  emit(double, 'charge.succeeded', charge);
  emit(double, 'payment_intent.succeeded', intent);
  return charge;
}

/** Of the error, which says less than its decline code. */
function codeOf(decline: string): string {
  return decline === AUTHENTICATION_REQUIRED ? decline : 'card_declined';
}

/** @returns what the caller is refused with */
export function fail(double: Double, intent: PaymentIntent, decline: string) {
  const { store, clock } = double;
  const failure = { code: codeOf(decline), message: DECLINED_MESSAGE };
  const payment_method = intent.payment_method ?? '';
  const charge = store.add(newCharge({ created: clock.now(), intent, payment_method, failure }));
  intent.status = 'requires_payment_method';
  intent.latest_charge = charge.id;
  intent.payment_method = null;
  intent.last_payment_error = {
    type: 'card_error',
    code: failure.code,
    decline_code: decline,
    message: failure.message,
  };
  emit(double, 'charge.failed', charge);
  emit(double, 'payment_intent.payment_failed', intent);
  return declined({ code: failure.code, decline_code: decline }, failure.message, intent);
}

export function dispute(double: Double, charge: Charge, status: DisputeStatus) {
  const { store, clock } = double;
  charge.disputed = true;
  const opened = store.add(newDispute({ created: clock.now(), charge, status }));
  emit(double, 'charge.dispute.created', opened);
  return opened;
}
