import type { Query } from '../../platform/database/query.ts';
import type { PaymentProvider } from '../provider.ts';
import { setPrice } from './store.ts';
import type { Pack } from './store.ts';

/** The id of a pack's price at Stripe, where it is made if there is none. @throws {Problem} payments_unavailable */
export async function stripePriceOf(
  query: Query,
  provider: Pick<PaymentProvider, 'ensurePrice'>,
  pack: Pack,
): Promise<string> {
  if (pack.stripe_price_id !== null) return pack.stripe_price_id;
  const { pack_id, name, currency, unit_amount, tax_behavior } = pack;
  // A restored database can give an id again: what it is sold for is a part of the key.
  const lookup_key = `tollgate-pack-${String(pack_id)}-${currency}-${String(unit_amount)}-${tax_behavior}`;
  const priceId = await provider.ensurePrice({ lookup_key, name, currency, unit_amount, tax_behavior });
  await setPrice(query, pack_id, priceId);
  return priceId;
}
