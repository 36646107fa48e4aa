import type { Logger } from '@tollgate/log';
import type { LockInstant } from '../../billing/credits/changes.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Apply } from '../applied.ts';
import type { PaymentProvider } from '../provider.ts';
import { applyCheckout } from '../purchases/apply.ts';
import { applyPayment } from '../reversals/apply.ts';

export type HandlerNeeds = {
  query: Query;
  provider: Pick<PaymentProvider, 'readCheckout' | 'readPayment' | 'refund'>;
  lockInstant: LockInstant;
  logger: Pick<Logger, 'warn' | 'error'>;
};

/**
 * Reads an object at the provider, and returns what brings our rows to it. Undefined if the object isn't known yet, and
 * the event is to be tried again.
 */
export type Handler = (needs: HandlerNeeds, objectId: string) => Promise<Apply | undefined>;

/** What an event says is never applied, only that something happened to its object. Other types are ignored. */
export const HANDLERS: Readonly<Record<string, Handler>> = {
  'checkout.session.completed': applyCheckout,
  'checkout.session.async_payment_succeeded': applyCheckout,
  'checkout.session.async_payment_failed': applyCheckout,
  'checkout.session.expired': applyCheckout,
  'charge.failed': applyPayment,
  'charge.refunded': applyPayment,
  'charge.dispute.created': applyPayment,
  'charge.dispute.updated': applyPayment,
  'charge.dispute.closed': applyPayment,
  'charge.dispute.funds_reinstated': applyPayment,
  'charge.dispute.funds_withdrawn': applyPayment,
  'payment_intent.payment_failed': applyPayment,
  'refund.created': applyPayment,
  'refund.updated': applyPayment,
  'refund.failed': applyPayment,
};
