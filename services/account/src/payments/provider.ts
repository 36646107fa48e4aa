import type { BillingInterval } from '../billing/periods/calendar.ts';
import type { InvoiceItemProvider } from './invoice-item-provider.ts';
import type { OffSessionProvider } from './off-session-provider.ts';
import type { SubscriptionProvider } from './subscription-provider.ts';

/** What we know of a payment page and its payment, as the provider states it now. */
export type Checkout = {
  session_id: string;
  /** Null once it can't be paid any more. */
  url: string | null;
  state: 'open' | 'processing' | 'paid' | 'expired' | 'failed';
  /** What the effect is keyed by: the payment, or the session of what cost nothing. */
  payment_id: string;
  /** The provider's, of a page that sells a subscription; undefined before it is paid. */
  subscription_id: string | undefined;
  metadata: Readonly<Record<string, string>>;
};

/** A payment with what went back of it, as the provider states it now. Amounts are in the minor unit. */
export type Payment = {
  payment_id: string;
  customer_id: string | null;
  currency: string;
  metadata: Readonly<Record<string, string>>;
  state: 'open' | 'paid' | 'failed';
  /** 0 unless it is `paid`. */
  paid: number;
  /** The sum of refunds that haven't failed. */
  refunded: number;
  /** Of `refunded`, so far as the bank hasn't taken it. */
  pending: number;
  /** Of `refunded`, what Tollgate gave back by itself. */
  refundedHere: number;
  disputes: readonly Dispute[];
};

/** An `inquiry` takes no money yet. */
export type Dispute = { dispute_id: string; state: 'inquiry' | 'open' | 'won' | 'lost'; amount: number };

type WantedCheckout = {
  /** Derived from our row: the same request never opens two pages. */
  key: string;
  mode: 'payment' | 'subscription';
  customer_id: string;
  price_id: string;
  quantity: number;
  success_url: string;
  cancel_url: string;
  /** Of the session and of its payment or subscription, so that what was bought can be completed from either. */
  metadata: Readonly<Record<string, string>>;
};

export type WantedPrice = {
  /** Finds the price again, also if it was made elsewhere. */
  lookup_key: string;
  name: string;
  currency: string;
  unit_amount: number;
  tax_behavior: 'exclusive' | 'inclusive';
  /** Undefined for what is paid once. */
  billing_interval?: BillingInterval;
};

/** An event whose signature and timestamp are valid. */
export type PaymentEvent = {
  id: string;
  type: string;
  /**
   * What is read again, and what events of one object have in common: the payment of refunds, disputes and charges, the
   * customer of payment methods.
   */
  object_id: string;
  /** Of another mode or account: not for us. */
  isForeign: boolean;
};

/**
 * The little that we need of a payment provider. No card data passes through it.
 * @throws {Problem} payments_unavailable, whatever is away or slow
 */
export type PaymentProvider = SubscriptionProvider &
  OffSessionProvider &
  InvoiceItemProvider & {
    /** One customer for an account. */
    createCustomer: (account: { account_id: number; email: string; name: string }) => Promise<string>;
    /** The id of the price with this key; made if there is none. */
    ensurePrice: (wanted: WantedPrice) => Promise<string>;
    openCheckout: (wanted: WantedCheckout) => Promise<Checkout>;
    /** Undefined if the provider doesn't know it (yet). */
    readCheckout: (sessionId: string) => Promise<Checkout | undefined>;
    /** Closes an open page. False if it was paid or has expired meanwhile. */
    expireCheckout: (sessionId: string) => Promise<boolean>;
    /** By its id. Undefined if the provider doesn't know it (yet). */
    readPayment: (paymentId: string) => Promise<Payment | undefined>;
    /** All that is left of a payment, once. */
    refund: (paymentId: string) => Promise<void>;
    /** Of pages that were made since then, newest first. */
    listCheckouts: (since: Date) => AsyncIterable<string>;
    /** Of payments with a refund or dispute that was made since then; one may come twice. */
    listReversedPayments: (since: Date) => AsyncIterable<string>;
    /** Of invoices that were made since then. */
    listInvoices: (since: Date) => AsyncIterable<string>;
    /** Undefined if the signature is invalid or its timestamp outside the tolerance. `nowMs`: by the reference clock. */
    readEvent: (body: Buffer, signature: string, nowMs: number) => PaymentEvent | undefined;
  };
