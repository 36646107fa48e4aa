import { decimalsOf } from '../../platform/money/currencies.ts';
import type { NewPrice } from './store.ts';

/** As customers read it: "€49.00 per month, plus tax". Its decimals are Stripe's, which `Intl` doesn't always know. */
export function priceText({ currency, unit_amount, tax_behavior, billing_interval }: NewPrice): string {
  const decimals = decimalsOf(currency) ?? 2;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  const tax = tax_behavior === 'exclusive' ? 'plus tax' : 'including tax';
  return `${format.format(unit_amount / 10 ** decimals)} per ${billing_interval}, ${tax}`;
}
