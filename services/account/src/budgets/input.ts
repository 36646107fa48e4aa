import { z } from 'zod';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';

const figure = z
  .int('must be a whole number or null')
  .min(0, 'must be at least 0')
  .max(MAX_TOTAL, `must be at most ${String(MAX_TOTAL)}`)
  .nullable()
  .default(null);

export const budgetInputSchema = z.strictObject({ points_per_period: figure, points_per_day: figure });
