import type { OfferedPrice } from './paid-plans.ts';

type Amount = Pick<OfferedPrice, 'currency' | 'unit_amount' | 'tax_behavior'>;

const MONTHS = 12;

/** What a year costs less than twelve months, in whole percent, rounded down. Null if it isn't less, or can't be compared. */
export function yearlySavingPercent(month: Amount | undefined, year: Amount | undefined): number | null {
  if (month === undefined || year === undefined) return null;
  if (month.currency !== year.currency || month.tax_behavior !== year.tax_behavior) return null;
  const monthly = month.unit_amount * MONTHS;
  // A free plan is as free by the year.
  const percent = monthly === 0 ? 0 : Math.floor(((monthly - year.unit_amount) * 100) / monthly);
  return percent > 0 ? percent : null;
}
