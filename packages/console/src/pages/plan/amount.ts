import { FieldError } from '../../ui/form/field-error.ts';
import type { Price } from './credits/price.ts';

/** What was typed as "19" or "19.50", in the currency's minor unit. @throws {FieldError} */
export function amountIn(text: string, field: string, { decimals }: Pick<Price, 'decimals'>): number {
  const match = /^(\d{1,12})(?:\.(\d*))?$/.exec(text.trim());
  const fraction = match?.[2] ?? '';
  if (match === null || fraction.length > decimals) {
    const example = (50).toFixed(decimals);
    throw new FieldError(field, `Enter an amount, such as ${example}.`);
  }
  return Number(`${match[1] ?? ''}${fraction.padEnd(decimals, '0')}`);
}

/** As it is typed. */
export function typedAmount(amount: number, { decimals }: Pick<Price, 'decimals'>): string {
  return (amount / 10 ** decimals).toFixed(decimals);
}

/** @throws {FieldError} */
export function wholeIn(text: string, field: string): number {
  const typed = text.trim().replaceAll(',', '');
  if (!/^\d{1,16}$/.test(typed)) throw new FieldError(field, 'Enter a whole number.');
  return Number(typed);
}
