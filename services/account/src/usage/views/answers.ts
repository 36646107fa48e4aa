import { APPLICATION_TYPES } from '@tollgate/contracts/application-types';
import { z } from 'zod';
import { billingStatusSchema } from '@tollgate/contracts/entitlement';
import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { id } from '../../http/answer-fields.ts';
import { ALERT_LIMITS } from '../../notifications/alerts/rules.ts';

const second = z.iso.datetime({ precision: 0 }).meta({ examples: ['2026-07-01T00:00:00Z'] });

const usage = z.record(z.enum(USAGE_FIELDS), z.int()).meta({
  description: 'The same fields as in `GET /api/usage`. Each number of seconds is rounded down separately.',
});

const headFields = {
  account_id: id,
  payer_id: id,
  view: z.enum(['billed', 'own']),
  interval: z.enum(['hour', 'day']),
  from: second.meta({ description: 'Start of the range, extended to whole buckets.' }),
  to: second.meta({ description: 'End of the range, exclusive.' }),
  billing_period: z
    .object({
      period_id: id,
      started_at: second,
      ended_at: second.meta({ description: 'The last second of the period.' }),
    })
    .nullable()
    .meta({ description: 'The period selected by `period_id`; null without it.' }),
  usage: usage.meta({ description: 'The total of the range.' }),
};

const byTimeSchema = z
  .object({
    ...headFields,
    group_by: z.literal('none'),
    groups: z.array(z.never()).max(0),
    buckets: z.array(z.object({ started_at: second, usage, groups: z.array(z.never()).max(0) })),
  })
  .meta({ id: 'UsageByTime' });

function grouped<By extends string>(by: By, ofGroup: z.ZodRawShape, names: z.ZodRawShape) {
  const started = { started_at: second, usage };
  return z.object({
    ...headFields,
    group_by: z.literal(by),
    groups: z
      .array(z.object({ ...ofGroup, ...names, usage }))
      .meta({ description: 'Totals of the range, most points first.' }),
    buckets: z
      .array(z.object({ ...started, groups: z.array(z.object({ ...ofGroup, usage })) }))
      .meta({ description: 'All buckets, each with the groups that have usage in it.' }),
  });
}

const byApplicationSchema = grouped(
  'application',
  { application_id: z.int().min(0) },
  {
    account_id: id
      .nullable()
      .meta({ description: 'The application’s owner; null if the application is unknown.' }),
    name: z.string().nullable(),
    type: z.enum(APPLICATION_TYPES).nullable(),
    status: z.enum(['active', 'revoked', 'deleted']).nullable(),
  },
).meta({ id: 'UsageByApplication' });

const byMemberSchema = grouped(
  'member',
  { account_id: id },
  {
    name: z.string().nullable(),
    email: z
      .string()
      .nullable()
      .meta({ description: 'Visible for yourself and for current members of your team.' }),
    in_team: z.boolean().meta({ description: 'False for former members and without a team.' }),
  },
).meta({ id: 'UsageByMember' });

const byVersionSchema = grouped('api_version', { api_version: z.string() }, {}).meta({
  id: 'UsageByApiVersion',
});

export const usageViewAnswerSchema = z.discriminatedUnion('group_by', [
  byTimeSchema,
  byApplicationSchema,
  byMemberSchema,
  byVersionSchema,
]);

const paceSchema = z
  .object({
    per_day: z
      .int()
      .min(0)
      .meta({ description: 'In the unit of the limit; never more than what was used in all.' }),
    reached_at: second.nullable().meta({
      description:
        'When the limit will be reached at this pace. Null before `forecast_from`, if the period ends first, nothing ' +
        'is used, or the limit is already reached.',
    }),
  })
  .meta({ id: 'Pace' });

const limitPaceSchema = z
  .object({
    limit: z.int().min(0),
    usage: z.int().min(0),
    used_share: z.number().min(0).meta({ description: 'Rounded down; 1 or more if the limit is reached.' }),
    reached: z.boolean(),
    whole_period: paceSchema.meta({ description: 'The average since the start of the period.' }),
    last_24_hours: paceSchema.meta({ description: 'The current hour and the 23 hours before it.' }),
  })
  .meta({ id: 'PaceOfLimit' });

const thresholdSchema = z
  .object({
    limit: z.enum(ALERT_LIMITS),
    share_percent: z.int().min(1).max(100),
    crossed_at: second,
  })
  .meta({ id: 'CrossedThreshold' });

export const paceAnswerSchema = z.object({
  account_id: id,
  payer_id: id,
  status: billingStatusSchema,
  payer: z
    .object({ name: z.string(), email: z.string() })
    .nullable()
    .meta({ description: 'The manager who pays for a member of a team; null if you pay yourself.' }),
  billing_period: z.object({
    period_id: id,
    started_at: second,
    ended_at: second,
    grace_ends_at: second.meta({ description: 'The last second in which calls work after the period.' }),
    plan_name: z.string(),
    product: z.object({ name: z.string() }).nullable(),
  }),
  elapsed_share: z.number().min(0).max(1),
  forecast_from: second.nullable().meta({
    description:
      'When forecasts begin: after 24 hours and 3% of the billing period. Null if the period ends before.',
  }),
  limits: z
    .object({
      points_limit: limitPaceSchema.optional(),
      time_sec_limit: limitPaceSchema.optional(),
      traffic_bytes_limit: limitPaceSchema.optional(),
    })
    .meta({ description: 'The enforced limits that usage adds up to.' }),
  momentary_limits: z
    .object({
      rate_limit: z.int().min(0).optional(),
      session_limit: z.int().min(0).optional(),
      subscription_limit: z.int().min(0).optional(),
    })
    .meta({
      description: 'The enforced limits of calls per minute, calls in flight and open subscriptions.',
    }),
  team_slots: z
    .object({ limit: z.int().min(0), used: z.int().min(0) })
    .nullable()
    .meta({ description: 'Members and pending invitations, the manager included; null without a limit.' }),
  crossed_thresholds: z
    .array(thresholdSchema)
    .meta({ description: 'Alert thresholds crossed in this period, latest first.' }),
});
