/** What we know of a payment page and its payment, as the provider states it now. */
export type Checkout = {
  session_id: string;
  /** Null once it can't be paid any more. */
  url: string | null;
  state: 'open' | 'processing' | 'paid' | 'expired' | 'failed';
  /** What the effect is keyed by: the payment, or the session of what cost nothing. */
  payment_id: string;
  metadata: Readonly<Record<string, string>>;
};

type WantedCheckout = {
  /** Derived from our row: the same request never opens two pages. */
  key: string;
  customer_id: string;
  price_id: string;
  quantity: number;
  success_url: string;
  cancel_url: string;
  /** Of the session and of its payment, so that the purchase can be completed from either. */
  metadata: Readonly<Record<string, string>>;
};

export type WantedPrice = {
  /** Finds the price again, also if it was made elsewhere. */
  lookup_key: string;
  name: string;
  currency: string;
  unit_amount: number;
  tax_behavior: 'exclusive' | 'inclusive';
};

/** An event whose signature and timestamp are valid. */
export type PaymentEvent = {
  id: string;
  type: string;
  /** What events of one object have in common. */
  object_id: string;
  /** Of another mode or account: not for us. */
  isForeign: boolean;
};

/**
 * The little that we need of a payment provider. No card data passes through it.
 * @throws {Problem} payments_unavailable, whatever is away or slow
 */
export type PaymentProvider = {
  /** One customer for an account. */
  createCustomer: (account: { account_id: number; email: string; name: string }) => Promise<string>;
  /** The id of the price with this key; made if there is none. */
  ensurePrice: (wanted: WantedPrice) => Promise<string>;
  openCheckout: (wanted: WantedCheckout) => Promise<Checkout>;
  /** Undefined if the provider doesn't know it (yet). */
  readCheckout: (sessionId: string) => Promise<Checkout | undefined>;
  /** Closes an open page. False if it was paid or has expired meanwhile. */
  expireCheckout: (sessionId: string) => Promise<boolean>;
  /** Undefined if the signature is invalid or its timestamp outside the tolerance. `nowMs`: by the reference clock. */
  readEvent: (body: Buffer, signature: string, nowMs: number) => PaymentEvent | undefined;
};
