import { invalidFields } from '@tollgate/http/invalid-fields';
import type { OveragePrice } from '../../billing/periods/limits.ts';
import { MOST, amountStep } from '../../platform/money/currencies.ts';

/** What points cost, in the minor unit and without tax: rounded half up, to what the currency can state. */
export function amountOf(points: number, { price_per_1000, currency }: OveragePrice): number {
  const step = BigInt(amountStep(currency));
  const thousand = 1_000n * step;
  return Number(((2n * BigInt(points) * BigInt(price_per_1000) + thousand) / (2n * thousand)) * step);
}

/** @throws {Problem} invalid_request if these points cost more than one item of an invoice can */
export function requireChargeable(points: number, price: OveragePrice): void {
  if (amountOf(points, price) <= MOST) return;
  throw invalidFields([{ field: 'cap_points', message: 'costs more than can be charged at once' }]);
}
