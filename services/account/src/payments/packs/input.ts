import { z } from 'zod';
import { nameSchema } from '../../http/input/name.ts';
import { priceFields, refuseAmount } from '../money/price-input.ts';

export const newPackSchema = z
  .strictObject({
    name: nameSchema,
    points: z.int('must be a whole number').min(1).max(Number.MAX_SAFE_INTEGER),
    ...priceFields,
    expires_after_days: z.int('must be a whole number').min(1).max(36_500).nullable().default(null),
  })
  .superRefine(refuseAmount);
