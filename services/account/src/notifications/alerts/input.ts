import { z } from 'zod';
import { describedAs } from '../../http/input/described-as.ts';
import { SHARES_MAX } from './rules.ts';
import type { AlertLimit } from './rules.ts';

const WANTED_SHARE = 'must be a whole number from 1 to 100';

const shares = describedAs(
  z
    .array(z.int(WANTED_SHARE).min(1, WANTED_SHARE).max(100, WANTED_SHARE), 'must be a list of whole numbers')
    .max(SHARES_MAX, `must have at most ${String(SHARES_MAX)} thresholds`)
    .refine((list) => new Set(list).size === list.length, 'must not contain a threshold twice')
    .transform((list) => list.toSorted((one, other) => one - other)),
  {
    type: 'array',
    items: { type: 'integer', minimum: 1, maximum: 100 },
    maxItems: SHARES_MAX,
    uniqueItems: true,
    description: 'Thresholds in percent.',
  },
);

export const alertSettingsSchema = z.strictObject({
  mail: z.boolean('must be true or false'),
  shares,
  limits: z
    .strictObject(
      {
        points_limit: shares.optional(),
        time_sec_limit: shares.optional(),
        traffic_bytes_limit: shares.optional(),
        team_slots_limit: shares.optional(),
      } satisfies Record<AlertLimit, unknown>,
      'must be an object',
    )
    .optional(),
  version: z
    .string('must be text')
    .optional()
    .meta({ description: 'The `version` that you changed; with it, changes made meanwhile are not lost.' }),
});
