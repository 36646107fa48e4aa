import { z } from 'zod';
import type { AlertLimit } from './rules.ts';

const shares = z.array(z.int().min(1).max(100));

/** Alert settings, as the API's document describes them. */
export const alertSettingsAnswerSchema = z
  .object({
    mail: z.boolean().meta({ description: 'Whether alerts come by mail too; webhooks get all of them.' }),
    shares: shares.meta({ description: 'Whole percents, for every limit that `limits` does not name.' }),
    limits: z
      .object({
        points_limit: shares.optional(),
        time_sec_limit: shares.optional(),
        traffic_bytes_limit: shares.optional(),
        team_slots_limit: shares.optional(),
      } satisfies Record<AlertLimit, unknown>)
      .meta({ description: 'Limits that have shares of their own; an empty list is none.' }),
  })
  .meta({ id: 'AlertSettings' });
