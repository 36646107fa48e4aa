import { z } from 'zod';
import { describedAs } from './described-as.ts';

export const idParameter = describedAs(
  z
    .string()
    .regex(/^[1-9]\d{0,15}$/)
    .transform(Number)
    .refine(Number.isSafeInteger),
  { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
);
