import { LOCALE } from '../../../ui/locale.ts';

export type Price = { currency: string; decimals: number };

/** An amount in the currency's minor unit, as "€19.00". Its decimals are Stripe's, which `Intl` doesn't always know. */
export function formatAmount(amount: number, { currency, decimals }: Price): string {
  return new Intl.NumberFormat(LOCALE, {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(amount / 10 ** decimals);
}
