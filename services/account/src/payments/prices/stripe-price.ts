import { findPlan } from '../../billing/plans/store.ts';
import type { Query } from '../../platform/database/query.ts';
import type { PaymentProvider } from '../provider.ts';
import { SLOT_KEY_PREFIX } from '../subscription-provider.ts';
import { planPrices, slotPrices } from './store.ts';
import type { PlanPrice, Price, PriceTable, SlotPrice } from './store.ts';

type Provider = Pick<PaymentProvider, 'ensurePrice'>;

/** The id of a plan's price at Stripe, where it is made if there is none. @throws {Problem} payments_unavailable */
export const stripePriceOf = (query: Query, provider: Provider, price: PlanPrice): Promise<string> =>
  ensured(query, provider, price, {
    prices: planPrices,
    keyPrefix: 'tollgate-plan-',
    nameOf: (plan) => plan,
  });

/** The same for a team slot. @throws {Problem} payments_unavailable */
export const stripeSlotPriceOf = (query: Query, provider: Provider, price: SlotPrice): Promise<string> =>
  ensured(query, provider, price, {
    prices: slotPrices,
    keyPrefix: SLOT_KEY_PREFIX,
    nameOf: (plan) => `${plan}: team slot`,
  });

async function ensured<Row extends Price>(
  query: Query,
  provider: Provider,
  price: Row,
  {
    prices,
    keyPrefix,
    nameOf,
  }: { prices: PriceTable<Row>; keyPrefix: string; nameOf: (plan: string) => string },
): Promise<string> {
  if (price.stripe_price_id !== null) return price.stripe_price_id;
  const { plan_id, billing_interval, currency, unit_amount, tax_behavior } = price;
  const plan = await findPlan(query, plan_id);
  // A restored database can give an id again: what it is sold for is a part of the key.
  const sold = [plan_id, billing_interval, prices.idOf(price), currency, unit_amount, tax_behavior].join('-');
  const id = await provider.ensurePrice({
    lookup_key: `${keyPrefix}${sold}`,
    name: nameOf(plan?.name ?? `Plan ${String(plan_id)}`),
    currency,
    unit_amount,
    tax_behavior,
    billing_interval,
  });
  await prices.setStripePrice(query, price, id);
  return id;
}
