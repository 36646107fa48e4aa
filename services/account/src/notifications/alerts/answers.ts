import { z } from 'zod';
import type { AlertLimit } from './rules.ts';

const shares = z.array(z.int().min(1).max(100));

export const alertSettingsAnswerSchema = z
  .object({
    mail: z.boolean().meta({ description: 'Whether to send alerts by mail. Webhooks receive all alerts.' }),
    shares: shares.meta({
      description:
        'Thresholds in percent, for the limits that `limits` does not contain. Team slots have alerts only with ' +
        'thresholds of their own.',
    }),
    limits: z
      .object({
        points_limit: shares.optional(),
        time_sec_limit: shares.optional(),
        traffic_bytes_limit: shares.optional(),
        team_slots_limit: shares.optional(),
      } satisfies Record<AlertLimit, unknown>)
      .meta({ description: 'Limits with their own thresholds. An empty list means no alerts.' }),
    version: z.string().meta({ description: 'Changes with the settings.', examples: ['0f8c2d1b9a7e6f54'] }),
  })
  .meta({ id: 'AlertSettings' });
