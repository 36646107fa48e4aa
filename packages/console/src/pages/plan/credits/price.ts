import { counted } from '../../../ui/format.ts';
import { LOCALE } from '../../../ui/locale.ts';
import type { Pack } from './queries.ts';

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

/** What a pack contains, as "Including tax. 1,000 points that expire 90 days after the purchase." */
export function packTerms({
  points,
  tax_behavior,
  expires_after_days: days,
}: Pick<Pack, 'points' | 'tax_behavior' | 'expires_after_days'>): string {
  const tax = tax_behavior === 'exclusive' ? 'Plus tax' : 'Including tax';
  const verb = points === 1 ? 'expires' : 'expire';
  const expiry = days === null ? `never ${verb}` : `${verb} ${counted(days, 'day')} after the purchase`;
  return `${tax}. ${counted(points, 'point')} that ${expiry}.`;
}
