import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';
import { ALERT_LIMITS } from './rules.ts';
import type { AlertLimit } from './rules.ts';

const shares = z.array(z.int().min(1).max(100));

export const alertSettingsAnswerSchema = z
  .object({
    mail: z.boolean().meta({ description: 'Whether to send alerts by email. Webhooks receive all alerts.' }),
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
    plan_limits: z.array(z.enum(ALERT_LIMITS)).meta({
      description:
        'The limits of the current billing period that can have alerts. Empty without a billing period.',
    }),
    version: z.string().meta({ description: 'Changes with the settings.', examples: ['0f8c2d1b9a7e6f54'] }),
  })
  .meta({ id: 'AlertSettings' });

const recentAlertSchema = z
  .object({
    is_test: z.boolean(),
    limit: z
      .enum([...ALERT_LIMITS, 'application_budget', 'member_budget'])
      .nullable()
      .meta({ description: 'Null for a test.' }),
    budget: z
      .object({
        name: z.string().meta({ description: 'Of the application or the member.' }),
        account_id: id.meta({ description: "The member, or the application's owner." }),
        application_id: id.nullable().meta({ description: "Null for a member's budget." }),
        window: z.enum(['period', 'day']),
      })
      .nullable()
      .meta({ description: 'Whose budget was spent; null for other alerts.' }),
    share_percent: z
      .int()
      .nullable()
      .meta({ description: 'The threshold that was passed. Null for a test.', examples: [80] }),
    created_at: instant,
  })
  .meta({ id: 'RecentAlert' });

export const recentAlertsSchema = z.object({ alerts: z.array(recentAlertSchema) });

export const alertTestSchema = z.object({ email: z.string().meta({ examples: ['ada@example.com'] }) });
