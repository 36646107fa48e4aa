import { findPlan } from '../../billing/plans/store.ts';
import type { Query } from '../../platform/database/query.ts';
import type { PaymentProvider } from '../provider.ts';
import { SLOT_KEY_PREFIX } from '../subscription-provider.ts';
import { setStripeSlotPrice } from './slot-price-store.ts';
import type { SlotPrice } from './slot-price-store.ts';

/** The id of a slot's price at Stripe, where it is made if there is none. @throws {Problem} payments_unavailable */
export async function stripeSlotPriceOf(
  query: Query,
  provider: Pick<PaymentProvider, 'ensurePrice'>,
  price: SlotPrice,
): Promise<string> {
  if (price.stripe_price_id !== null) return price.stripe_price_id;
  const { team_slot_price_id, plan_id, billing_interval, currency, unit_amount, tax_behavior } = price;
  const plan = await findPlan(query, plan_id);
  // A restored database can give an id again: what it is sold for is a part of the key.
  const sold = [plan_id, billing_interval, team_slot_price_id, currency, unit_amount, tax_behavior].join('-');
  const id = await provider.ensurePrice({
    lookup_key: `${SLOT_KEY_PREFIX}${sold}`,
    name: `${plan?.name ?? `Plan ${String(plan_id)}`}: team slot`,
    currency,
    unit_amount,
    tax_behavior,
    billing_interval,
  });
  await setStripeSlotPrice(query, team_slot_price_id, id);
  return id;
}
