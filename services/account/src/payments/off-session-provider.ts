/** A payment without the customer, as the provider states it now. */
export type OffSessionPayment = {
  payment_id: string;
  /** `unconfirmed`: nothing was tried yet. */
  state: 'unconfirmed' | 'processing' | 'paid' | 'declined' | 'canceled';
  /** Of the last refusal, by the provider's list. */
  decline_code: string | null;
  created_at: Date;
  metadata: Readonly<Record<string, string>>;
};

type WantedPayment = {
  /** Derived from our row: the same request never makes two payments. */
  key: string;
  customer_id: string;
  payment_method_id: string;
  amount: number;
  currency: string;
  description: string;
  metadata: Readonly<Record<string, string>>;
};

/** @throws {Problem} payments_unavailable, whatever is away or slow */
export type OffSessionProvider = {
  /** By which the customer pays without being there: the default one, else the newest. Undefined without any. */
  findPaymentMethod: (customerId: string) => Promise<string | undefined>;
  /** The customer's payment with this key that isn't confirmed yet, by its metadata. Its id; undefined if none is made. */
  findPreparedPayment: (
    wanted: Pick<WantedPayment, 'key' | 'customer_id' | 'payment_method_id'>,
  ) => Promise<string | undefined>;
  /** Makes a payment that charges nothing until it is confirmed. Its id. */
  preparePayment: (wanted: WantedPayment) => Promise<string>;
  /** What became of it; a decline is an outcome. Repeating it charges nothing twice. */
  confirmPayment: (paymentId: string) => Promise<OffSessionPayment>;
  /** So that it can't be paid any more, unless it is paid or on its way already. What it is then. */
  cancelPayment: (paymentId: string) => Promise<OffSessionPayment>;
  /** Undefined if the provider doesn't know it (yet). */
  readOffSessionPayment: (paymentId: string) => Promise<OffSessionPayment | undefined>;
  /** Of payments for top-ups that were made since then. */
  listTopUps: (since: Date) => AsyncIterable<string>;
};
