import type { BillingInterval } from '../billing/periods/calendar.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';
import type { Query } from '../platform/database/query.ts';

type PriceText = { plan_id: number; billing_interval: BillingInterval; text: string };

/** With payments, plans are sold on the payment page only, and for the intervals that have a price. */
export type PaidPlans = {
  priceTexts: (query: Query) => Promise<PriceText[]>;
  /** The present price of the planned change holds for it. */
  keepPrice: (query: Query, subscription: Subscription) => Promise<void>;
};
