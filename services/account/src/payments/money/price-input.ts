import { z } from 'zod';
import { amountFault, decimalsOf } from '../../platform/money/currencies.ts';

/** A price in a request; `refuseAmount` checks the amount with its currency. */
export const priceFields = {
  currency: z
    .string()
    .refine(
      (value) => decimalsOf(value) !== undefined,
      'must be a lowercase currency code that Stripe supports, such as eur',
    ),
  unit_amount: z.int('must be a whole number'),
  tax_behavior: z.enum(['exclusive', 'inclusive'], 'must be exclusive or inclusive').default('exclusive'),
};

export function refuseAmount(
  { unit_amount, currency }: { unit_amount: number; currency: string },
  context: z.RefinementCtx,
): void {
  const message = amountFault(unit_amount, currency);
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['unit_amount'], message });
}

export const newPriceSchema = z.strictObject(priceFields).superRefine(refuseAmount);

/** Of a plan: 0 is a free one, which Stripe never hears of. */
export function refusePlanAmount(
  price: { unit_amount: number; currency: string },
  context: z.RefinementCtx,
): void {
  if (price.unit_amount !== 0) refuseAmount(price, context);
}

export const newPlanPriceSchema = z.strictObject(priceFields).superRefine(refusePlanAmount);
