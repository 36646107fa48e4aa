import { z } from 'zod';
import { billingStatusSchema, LIMIT_FIELDS } from './entitlement.ts';

/** Named as in the source specification, part 2. */
export const USAGE_FIELDS = [
  'points_usage',
  'requests_usage',
  'time_sec_usage',
  'traffic_bytes_usage',
] as const;

const instantSchema = z.iso.datetime({ precision: 0 });

/** Answer of `GET /api/usage` (source specification, parts 2 and 4.2). */
export const usageResponseSchema = z.object({
  account_id: z.int(),
  payer_id: z.int(),
  status: billingStatusSchema,
  billing_period: z.object({
    started_at: instantSchema,
    /** Inclusive. */
    ended_at: instantSchema,
    plan_name: z.string(),
    product: z.object({ name: z.string() }).nullable(),
    limits: z.record(z.enum(LIMIT_FIELDS), z.int()),
    usage: z.record(z.enum(USAGE_FIELDS), z.int()),
    /** As of the period's start; its keys depend on the plan. */
    description: z.record(z.string(), z.unknown()),
  }),
});

export type UsageResponse = z.infer<typeof usageResponseSchema>;
