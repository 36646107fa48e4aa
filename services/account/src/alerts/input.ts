import { z } from 'zod';
import { ALERT_LIMITS, SHARES_MAX } from './rules.ts';

const WANTED_SHARE = 'must be a whole percent from 1 to 100';

const shares = z
  .array(z.int(WANTED_SHARE).min(1, WANTED_SHARE).max(100, WANTED_SHARE), 'must be a list of whole percents')
  .max(SHARES_MAX, `must have at most ${String(SHARES_MAX)} shares`)
  .refine((list) => new Set(list).size === list.length, 'must not name a share twice')
  .transform((list) => list.toSorted((one, other) => one - other));

/** Body of `PUT /api/console/alerts`. */
export const alertSettingsSchema = z.strictObject({
  mail: z.boolean('must be true or false'),
  shares,
  limits: z
    .partialRecord(z.enum(ALERT_LIMITS, `must be ${ALERT_LIMITS.join(', ')}`), shares, 'must be an object')
    .default({}),
});
