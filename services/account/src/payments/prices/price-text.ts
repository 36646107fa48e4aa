import { amountText } from '../../platform/money/amount-text.ts';
import type { NewPrice } from './store.ts';

/** As customers read it: "€49.00 per month, plus tax", or "Free". */
export function priceText({ currency, unit_amount, tax_behavior, billing_interval }: NewPrice): string {
  if (unit_amount === 0) return 'Free';
  const tax = tax_behavior === 'exclusive' ? 'plus tax' : 'including tax';
  return `${amountText(unit_amount, currency)} per ${billing_interval}, ${tax}`;
}
