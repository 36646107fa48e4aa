import { z } from 'zod';
import { decimalsOf } from '../../platform/money/currencies.ts';
import type { OveragePrice } from './limits.ts';

/** What points beyond the included ones cost, as answers state it. */
export const overageOfferSchema = z.object({
  price_per_1000: z.int().meta({ description: 'Of 1,000 points, in the minor unit, without tax.' }),
  currency: z.string(),
  decimals: z.int().meta({ description: 'Decimals of amounts in this currency.' }),
});

/** Null if none are sold. */
export function overageOffer(price: OveragePrice | null): z.infer<typeof overageOfferSchema> | null {
  return price === null ? null : { ...price, decimals: decimalsOf(price.currency) ?? 2 };
}
