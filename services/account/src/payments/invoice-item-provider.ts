/** An item of an invoice, as the provider states it now. */
export type InvoiceItem = {
  id: string;
  /** Null while it waits for the customer's next invoice. */
  invoice_id: string | null;
  amount: number;
  /** By its metadata; undefined if they don't say. */
  points: number | undefined;
  /** Its invoice was of a change that was never paid, and is void: nothing of it is charged. */
  isLost: boolean;
};

type WantedItem = {
  /** Derived from our row: the same request never makes two items. */
  key: string;
  customer_id: string;
  /** A draft; without it, the item waits for the next invoice. */
  invoice_id?: string;
  currency: string;
  /** In the minor unit, without tax; below 0 for a correction. */
  amount: number;
  description: string;
  /** What it is for, first and last second. */
  period: { start: Date; end: Date };
  metadata: Readonly<Record<string, string>>;
};

/** @throws {Problem} payments_unavailable, whatever is away or slow */
export type InvoiceItemProvider = {
  /** The customer's item for this charge, by its metadata; a lost one only if there is no other. Undefined if none is made yet. */
  findInvoiceItem: (customerId: string, chargeKey: string) => Promise<InvoiceItem | undefined>;
  /** The id of a subscription's invoice that can still be added to. Undefined without one. */
  findDraft: (customerId: string, subscriptionId: string) => Promise<string | undefined>;
  addInvoiceItem: (wanted: WantedItem) => Promise<InvoiceItem>;
  /**
   * Makes an invoice of the customer's items that wait for one, which is charged by itself. `key` makes a repetition
   * harmless. Its id.
   */
  invoicePendingItems: (wanted: {
    key: string;
    customer_id: string;
    currency: string;
    /** Without it, the customer's default: a subscription's checkout sets none. */
    payment_method_id?: string | undefined;
  }) => Promise<string>;
};
