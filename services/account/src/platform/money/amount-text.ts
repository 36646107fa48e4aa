import { decimalsOf } from './currencies.ts';

/** An amount in Stripe's minor unit, as "€49.00". Its decimals are Stripe's, which `Intl` doesn't always know. */
export function amountText(amount: number, currency: string): string {
  const decimals = decimalsOf(currency) ?? 2;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return format.format(amount / 10 ** decimals);
}
