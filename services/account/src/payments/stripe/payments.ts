import type Stripe from 'stripe';
import type { Dispute, Payment } from '../provider.ts';
import { undefinedIfMissing } from './refusals.ts';

const PAGE = 100;

/** Of a refund that Tollgate makes: it is told of by an event like any other. */
export const OWN_REFUND = { tollgate: 'refund' };

/** Three requests, since neither refunds nor disputes are a part of the payment. */
export async function readPayment(stripe: Stripe, id: string): Promise<Payment | undefined> {
  const payment = await stripe.paymentIntents
    .retrieve(id, { expand: ['latest_charge'] })
    .catch(undefinedIfMissing);
  if (payment === undefined) return undefined;
  const { status, customer, currency, metadata, latest_charge } = payment;
  const [refunds, disputes] = await Promise.all([
    stripe.refunds.list({ payment_intent: id, limit: PAGE }),
    stripe.disputes.list({ payment_intent: id, limit: PAGE }),
  ]);
  const charge = typeof latest_charge === 'object' ? latest_charge : null;
  const isPaid = status === 'succeeded' && charge !== null && charge.status !== 'failed';
  const refunded = charge?.amount_refunded ?? 0;
  const pending = sumOf(refunds.data.filter(isPending));
  const refundedHere = sumOf(
    refunds.data.filter(
      (refund) =>
        refund.metadata?.['tollgate'] === OWN_REFUND.tollgate &&
        (refund.status === 'succeeded' || isPending(refund)),
    ),
  );
  return {
    payment_id: payment.id,
    customer_id: typeof customer === 'object' ? (customer?.id ?? null) : customer,
    currency,
    metadata,
    state: isPaid ? 'paid' : isFailed(status, charge) ? 'failed' : 'open',
    paid: isPaid ? charge.amount_captured : 0,
    refunded,
    pending: Math.min(pending, refunded),
    refundedHere: Math.min(refundedHere, refunded),
    disputes: disputes.data.map(({ id: dispute_id, status: state, amount }) => ({
      dispute_id,
      state: STATES[state] ?? 'open',
      amount,
    })),
  };
}

function isPending({ status }: Stripe.Refund): boolean {
  return status === 'pending' || status === 'requires_action';
}

function sumOf(refunds: readonly Stripe.Refund[]): number {
  return refunds.reduce((sum, { amount }) => sum + amount, 0);
}

function isFailed(status: Stripe.PaymentIntent.Status, charge: Stripe.Charge | null): boolean {
  return status === 'canceled' || status === 'requires_payment_method' || charge?.status === 'failed';
}

/** A status that a later version of Stripe has added counts as open. */
const STATES: Readonly<Record<string, Dispute['state']>> = {
  appeal_needs_response: 'lost',
  appeal_under_review: 'lost',
  lost: 'lost',
  needs_response: 'open',
  prevented: 'won',
  under_review: 'open',
  warning_closed: 'won',
  warning_needs_response: 'inquiry',
  warning_under_review: 'inquiry',
  won: 'won',
};

export async function* listReversedPayments(stripe: Stripe, sinceSec: number): AsyncGenerator<string> {
  const since = { created: { gte: sinceSec }, limit: PAGE };
  for await (const { payment_intent } of stripe.refunds.list(since)) yield* idOf(payment_intent);
  for await (const { payment_intent } of stripe.disputes.list(since)) yield* idOf(payment_intent);
}

function* idOf(payment: string | { id: string } | null): Generator<string> {
  if (payment !== null) yield typeof payment === 'string' ? payment : payment.id;
}
