import type { Query } from '../../platform/database/query.ts';
import { stripePriceOf as priceOfPack } from '../packs/stripe-price.ts';
import { listOfferedPacks } from '../packs/store.ts';
import type { PaymentProvider } from '../provider.ts';
import { stripePriceOf, stripeSlotPriceOf } from './stripe-price.ts';
import { isFree, planPrices, slotPrices } from './store.ts';

/**
 * Makes what Stripe lacks: a price for each plan, team slot and pack on sale, and the customer portal's configuration.
 * @throws {Problem} payments_unavailable; what was made stays
 */
export async function syncStripe(
  query: Query,
  provider: Pick<PaymentProvider, 'ensurePrice' | 'ensurePortal'>,
): Promise<{ plan_prices: number; packs: number; portal_configuration_id: string }> {
  const [listed, packs] = await Promise.all([planPrices.list(query), listOfferedPacks(query)]);
  const prices = listed.filter((price) => !isFree(price));
  for (const price of prices) await stripePriceOf(query, provider, price);
  for (const price of await slotPrices.list(query)) await stripeSlotPriceOf(query, provider, price);
  for (const pack of packs) await priceOfPack(query, provider, pack);
  const portal_configuration_id = await provider.ensurePortal();
  return { plan_prices: prices.length, packs: packs.length, portal_configuration_id };
}
