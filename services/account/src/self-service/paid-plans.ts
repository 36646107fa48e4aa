import type { BillingInterval } from '../billing/periods/calendar.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';
import type { Query } from '../platform/database/query.ts';

/** `unit_amount` is in the currency's minor unit. */
export type OfferedPrice = {
  plan_id: number;
  billing_interval: BillingInterval;
  currency: string;
  unit_amount: number;
  tax_behavior: string;
  text: string;
};

/** With payments, plans are sold on the payment page only, and for the intervals that have a price. */
export type PaidPlans = {
  prices: (query: Query) => Promise<OfferedPrice[]>;
  /** The present price of the planned change holds for it. */
  keepPrice: (query: Query, subscription: Subscription) => Promise<void>;
};
