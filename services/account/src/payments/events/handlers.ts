import type { Logger } from '@tollgate/log';
import type { LockInstant } from '../../billing/credits/changes.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Apply } from '../applied.ts';
import { applyInvoice } from '../invoices/apply.ts';
import type { PaymentProvider } from '../provider.ts';
import { applyCheckout } from '../purchases/apply.ts';
import { applyPayment } from '../reversals/apply.ts';
import { applyPaymentOfTopUp } from '../top-ups/apply.ts';
import { applyCustomer } from '../top-ups/customer.ts';
import { readTopUpMetadata } from '../top-ups/metadata.ts';
import { applySubscription, applySubscriptionPage } from '../subscriptions/apply.ts';
import { isSubscriptionPage } from '../subscriptions/metadata.ts';

export type HandlerNeeds = {
  query: Query;
  provider: Pick<
    PaymentProvider,
    | 'readCheckout'
    | 'readPayment'
    | 'refund'
    | 'readSubscription'
    | 'readInvoice'
    | 'listInvoicePayments'
    | 'readOffSessionPayment'
    | 'cancelPayment'
    | 'findPaymentMethod'
  >;
  lockInstant: LockInstant;
  /** PAYMENT_GRACE_SEC */
  paymentGraceSec: number;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
};

/**
 * Reads an object at the provider, and returns what brings our rows to it. Undefined if the object isn't known yet, and
 * the event is to be tried again.
 */
export type Handler = (needs: HandlerNeeds, objectId: string) => Promise<Apply | undefined>;

/** Of a payment page, which sells points or a plan. */
export const applyPage: Handler = async (needs, objectId) => {
  const checkout = await needs.provider.readCheckout(objectId);
  if (checkout === undefined) return undefined;
  return isSubscriptionPage(checkout)
    ? applySubscriptionPage(needs, checkout)
    : applyCheckout(needs, checkout);
};

/** Of a payment without a page: a top-up's, or one of a purchase or an invoice, of which only failures matter. */
const applyIntent: Handler = async (needs, objectId) => {
  const payment = await needs.provider.readOffSessionPayment(objectId);
  if (payment === undefined) return undefined;
  if (readTopUpMetadata(payment.metadata) !== undefined) return applyPaymentOfTopUp(needs, payment);
  const hasFailed = payment.state === 'declined' || payment.state === 'canceled';
  return hasFailed ? applyPayment(needs, objectId) : ignore;
};

const ignore: Apply = () => Promise.resolve({ outcome: 'ignored', change: null });

/** What an event says is never applied, only that something happened to its object. Other types are ignored. */
export const HANDLERS: Readonly<Record<string, Handler>> = {
  'checkout.session.completed': applyPage,
  'checkout.session.async_payment_succeeded': applyPage,
  'checkout.session.async_payment_failed': applyPage,
  'checkout.session.expired': applyPage,
  'customer.subscription.created': applySubscription,
  'customer.subscription.deleted': applySubscription,
  'customer.subscription.updated': applySubscription,
  'invoice.created': applyInvoice,
  'invoice.finalized': applyInvoice,
  'invoice.marked_uncollectible': applyInvoice,
  'invoice.paid': applyInvoice,
  'invoice.payment_failed': applyInvoice,
  'invoice.updated': applyInvoice,
  'invoice.voided': applyInvoice,
  'charge.failed': applyPayment,
  'charge.refunded': applyPayment,
  'charge.dispute.created': applyPayment,
  'charge.dispute.updated': applyPayment,
  'charge.dispute.closed': applyPayment,
  'charge.dispute.funds_reinstated': applyPayment,
  'charge.dispute.funds_withdrawn': applyPayment,
  'customer.updated': applyCustomer,
  'payment_intent.canceled': applyIntent,
  'payment_intent.payment_failed': applyIntent,
  'payment_intent.processing': applyIntent,
  'payment_intent.succeeded': applyIntent,
  'payment_method.attached': applyCustomer,
  'refund.created': applyPayment,
  'refund.updated': applyPayment,
  'refund.failed': applyPayment,
};
