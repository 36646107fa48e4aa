/** Of keys of team slots' prices, by which their item is told from the plan's. */
export const SLOT_KEY_PREFIX = 'tollgate-team-slot-';

/** `price_id`: of the plan's item. `slots`: how many additional team slots are charged. */
type ProvidedItems = { price_id: string | undefined; slots: number };

/** What Stripe says of a subscription now. */
export type ProvidedSubscription = ProvidedItems & {
  id: string;
  /** Whether it ended, or never began. */
  isEnded: boolean;
  /** Whether its latest invoice is paid, so that it may start here. */
  isPaid: boolean;
  /** Each change that is charged brings another one. */
  latest_invoice_id: string | null;
  cancel_at_period_end: boolean;
  /** All periods are counted from this second. */
  anchor: Date;
  /** Of the period that was charged last. */
  period_started_at: Date;
  /** Exclusive. */
  period_ends_at: Date;
  ended_at: Date | null;
  /** A change that takes effect once it is paid on that page; null if there is none. */
  unpaid_change: (ProvidedItems & { payment_url: string | null }) | null;
  metadata: Readonly<Record<string, string>>;
};

export type InvoiceState = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';

/** What Stripe says of an invoice now. */
export type ProvidedInvoice = {
  id: string;
  customer_id: string | undefined;
  /** Stripe's, of the subscription that it is for. */
  subscription_id: string | undefined;
  billing_reason: string | null;
  number: string | null;
  state: InvoiceState;
  currency: string;
  total: number;
  /** Of a subscription: when the time begins that it charges last. */
  period_start: Date | null;
  /** Exclusive. */
  period_end: Date | null;
  /** Whether a payment of it is under way, as debits are for days. */
  isProcessing: boolean;
  /** Whether a payment of it was tried and failed. */
  hasFailed: boolean;
  issued_at: Date;
  paid_at: Date | null;
  /** Where it can be seen and paid; null for a draft. It expires. */
  hosted_url: string | null;
};

/** What isn't named stays. `slots`: null for none; without a price, that of the item stays. */
export type ItemsChange = {
  price_id?: string | undefined;
  slots?: { price_id?: string | undefined; quantity: number } | null | undefined;
};

/** What was paid for the rest of the period is credited from `prorated_at` on, or from its start. */
export type ProratedChange = ItemsChange & { prorated_at: Date };

/** @throws {Problem} payments_unavailable, whatever is away or slow */
export type SubscriptionProvider = {
  /** Undefined if the provider doesn't know it (yet). */
  readSubscription: (id: string) => Promise<ProvidedSubscription | undefined>;
  /** Those that haven't ended. */
  listSubscriptions: () => AsyncIterable<ProvidedSubscription>;
  /**
   * `key` makes a repetition harmless. Changed items count from the next period, which `begins_at` then: items with
   * another interval would otherwise begin one at once. `isNewPeriod`: they do, and what is left of the period before is
   * credited.
   */
  changeSubscription: (
    id: string,
    changes: ItemsChange & {
      cancel_at_period_end?: boolean;
      begins_at?: Date | undefined;
      isNewPeriod?: boolean;
    },
    key: string,
  ) => Promise<void>;
  /** What `changeNow` would charge, with tax and discounts, in the minor unit. */
  previewChange: (id: string, wanted: ProratedChange) => Promise<{ amount_due: number; currency: string }>;
  /** Charges the difference; the change counts once that is paid. `key` makes a repetition harmless. */
  changeNow: (id: string, wanted: ProratedChange, key: string) => Promise<void>;
  /** Ends it now, without an invoice. Does nothing if it has ended. */
  endSubscription: (id: string) => Promise<void>;
  /** Undefined if the provider doesn't know it (yet). */
  readInvoice: (id: string) => Promise<ProvidedInvoice | undefined>;
  /** The payments of an invoice that succeeded. */
  listInvoicePayments: (id: string) => Promise<string[]>;
  /** Those of a subscription's latest invoice. */
  listPayments: (id: string) => Promise<string[]>;
  /** The page on which a customer manages cards, addresses and VAT numbers. */
  openPortal: (wanted: { customer_id: string; return_url: string }) => Promise<string>;
  /** Makes the portal's configuration, or brings it to ours. Its id. */
  ensurePortal: () => Promise<string>;
};
