import Stripe from 'stripe';
import type { OffSessionPayment, OffSessionProvider } from '../off-session-provider.ts';
import { asked, askedAll, undefinedIfMissing } from './refusals.ts';
import { dateOf, idOf } from './values.ts';

const PAGE = 100;

/**
 * A PaymentIntent that is confirmed in a step of its own, so that its id is stored before anything can be charged. Not an
 * invoice: one whose payment failed would stay open, and could be paid later.
 */
export function createOffSessionPayments(stripe: Stripe): OffSessionProvider {
  const read = (id: string) => stripe.paymentIntents.retrieve(id);

  return {
    findPaymentMethod: (customer) =>
      asked(async () => {
        const found = await stripe.customers.retrieve(customer);
        if (found.deleted === true) return undefined;
        const preferred = found.invoice_settings.default_payment_method;
        if (preferred !== null) return idOf(preferred);
        const { data } = await stripe.paymentMethods.list({ customer, limit: 1 });
        return data[0]?.id;
      }),
    findPreparedPayment: ({ key, customer_id, payment_method_id }) =>
      asked(async () => {
        for await (const one of stripe.paymentIntents.list({ customer: customer_id, limit: PAGE })) {
          const isOurs =
            one.metadata['tollgate_top_up'] === key && idOf(one.payment_method) === payment_method_id;
          if (isOurs && one.status === 'requires_confirmation') return one.id;
        }
        return undefined;
      }),
    preparePayment: ({ key, customer_id, payment_method_id, ...wanted }) =>
      asked(async () => {
        const payment = await stripe.paymentIntents.create(
          {
            ...wanted,
            customer: customer_id,
            payment_method: payment_method_id,
            automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
          },
          // Another card is another request.
          { idempotencyKey: `payment:${key}:${payment_method_id}` },
        );
        return payment.id;
      }),
    confirmPayment: (id) =>
      asked(async () => {
        await stripe.paymentIntents
          .confirm(id, { off_session: true }, { idempotencyKey: `confirm:${id}` })
          .catch(unlessDecided);
        return paymentOf(await read(id));
      }),
    cancelPayment: (id) =>
      asked(async () => {
        const before = await read(id);
        if (before.status !== 'canceled') {
          await stripe.paymentIntents.cancel(id, {}, { idempotencyKey: `cancel:${id}` }).catch(unlessDecided);
        }
        return paymentOf(await read(id));
      }),
    readOffSessionPayment: (id) =>
      asked(async () => {
        const found = await read(id).catch(undefinedIfMissing);
        return found === undefined ? undefined : paymentOf(found);
      }),
    listTopUps: (since) => {
      const created = { gte: Math.floor(since.getTime() / 1_000) };
      return askedAll(idsOf(stripe.paymentIntents.list({ created, limit: PAGE })));
    },
  };
}

/** A declined card, or a payment that is paid or canceled already: what it is now says which. */
function unlessDecided(error: unknown): void {
  if (error instanceof Stripe.errors.StripeCardError) return;
  const isDecided =
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'payment_intent_unexpected_state';
  if (!isDecided) throw error;
}

function paymentOf(payment: Stripe.PaymentIntent): OffSessionPayment {
  const { id, status, last_payment_error, metadata, created } = payment;
  const decline_code =
    last_payment_error === null
      ? null
      : (last_payment_error.decline_code ?? last_payment_error.code ?? 'generic_decline');
  const state = STATES[status] ?? 'processing';
  // A bank that asks for the customer has declined what the customer isn't there for.
  const wantsCustomer = status === 'requires_action';
  return {
    payment_id: id,
    state: state === 'unconfirmed' && last_payment_error !== null ? 'declined' : state,
    decline_code: wantsCustomer ? 'authentication_required' : decline_code,
    created_at: dateOf(created),
    metadata,
  };
}

const STATES: Readonly<Record<string, OffSessionPayment['state']>> = {
  canceled: 'canceled',
  processing: 'processing',
  requires_action: 'declined',
  requires_confirmation: 'unconfirmed',
  requires_payment_method: 'unconfirmed',
  succeeded: 'paid',
};

async function* idsOf(payments: AsyncIterable<{ id: string; metadata: Stripe.Metadata }>) {
  for await (const { id, metadata } of payments) if (metadata['tollgate_top_up'] !== undefined) yield id;
}
