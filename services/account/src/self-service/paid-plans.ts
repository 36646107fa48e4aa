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

/** Undefined if it isn't sold for this interval. */
export function findPrice(
  prices: readonly OfferedPrice[],
  { plan_id, billing_interval }: Pick<OfferedPrice, 'plan_id' | 'billing_interval'>,
): OfferedPrice | undefined {
  return prices.find((price) => price.plan_id === plan_id && price.billing_interval === billing_interval);
}

/** With payments, plans are sold on the payment page only, and for the intervals that have a price. */
export type PaidPlans = {
  prices: (query: Query) => Promise<OfferedPrice[]>;
  /** Of one additional team slot. Without one, a plan sells none for the interval. */
  slotPrices: (query: Query) => Promise<OfferedPrice[]>;
  /** What the subscription is charged in. */
  currency: (query: Query, subscriptionId: number) => Promise<string | undefined>;
  /** How many team slots are charged. */
  chargedSlots: (query: Query, subscriptionId: number) => Promise<number>;
  /** How many of them are charged from the next period on. */
  keepSlots: (query: Query, subscriptionId: number, charged: number) => Promise<void>;
  /** The present price of the planned change holds for it. */
  keepPrice: (query: Query, subscription: Subscription) => Promise<void>;
};
