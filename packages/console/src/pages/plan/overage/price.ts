import { formatAmount } from '../credits/price.ts';
import type { Price } from '../credits/price.ts';

/** As "€0.50 for 1,000 points without tax". */
export function perThousand({ price_per_1000, ...price }: Price & { price_per_1000: number }): string {
  return `${formatAmount(price_per_1000, price)} for 1,000 points without tax`;
}
