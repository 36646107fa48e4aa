import { z } from 'zod';
import { billingStatusSchema } from '@tollgate/contracts/entitlement';
import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { id } from '../../http/answer-fields.ts';

/** Answers about usage over time, as the API's document describes them. */

const second = z.iso.datetime({ precision: 0 }).meta({ examples: ['2026-07-01T00:00:00Z'] });

const usage = z
  .record(z.enum(USAGE_FIELDS), z.int())
  .meta({ description: 'As `GET /api/usage` has it. Each figure of seconds is rounded down by itself.' });

const headFields = {
  account_id: id,
  payer_id: id,
  view: z.enum(['billed', 'own']),
  interval: z.enum(['hour', 'day']),
  from: second.meta({ description: 'The range, widened to whole buckets.' }),
  to: second.meta({ description: 'Exclusive.' }),
  usage: usage.meta({ description: 'Of the whole range.' }),
};

const byTimeSchema = z
  .object({
    ...headFields,
    group_by: z.literal('none'),
    groups: z.array(z.never()).max(0),
    buckets: z.array(z.object({ started_at: second, usage, groups: z.array(z.never()).max(0) })),
  })
  .meta({ id: 'UsageByTime' });

/** Grouped by something that has an id, and names. */
function grouped<By extends string>(by: By, ofGroup: z.ZodRawShape, names: z.ZodRawShape) {
  const started = { started_at: second, usage };
  return z.object({
    ...headFields,
    group_by: z.literal(by),
    groups: z
      .array(z.object({ ...ofGroup, ...names, usage }))
      .meta({ description: 'Over the whole range, most points first.' }),
    buckets: z
      .array(z.object({ ...started, groups: z.array(z.object({ ...ofGroup, usage })) }))
      .meta({ description: 'Every bucket; in it, the groups that have used something.' }),
  });
}

const byApplicationSchema = grouped(
  'application',
  { application_id: z.int().min(0) },
  {
    account_id: id.nullable().meta({ description: 'Whose application; null where there is no such one.' }),
    name: z.string().nullable(),
    type: z.enum(['automatic', 'manual', 'temporary']).nullable(),
    status: z.enum(['active', 'revoked', 'deleted']).nullable(),
  },
).meta({ id: 'UsageByApplication' });

const byMemberSchema = grouped(
  'member',
  { account_id: id },
  {
    name: z.string().nullable(),
    email: z.string().nullable().meta({ description: 'Of oneself and of who is in the team.' }),
    in_team: z.boolean().meta({ description: 'False for who has left, and where there is no team.' }),
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
    per_day: z.int().min(0).meta({ description: 'In units of the limit.' }),
    reached_at: second.nullable().meta({
      description:
        'When the limit is reached if it goes on like that; null where the period ends before, nothing is used or ' +
        'it is reached already.',
    }),
  })
  .meta({ id: 'Pace' });

const limitPaceSchema = z
  .object({
    limit: z.int().min(0),
    usage: z.int().min(0),
    used_share: z.number().min(0).meta({ description: 'Rounded down; 1 or more where it is reached.' }),
    reached: z.boolean(),
    whole_period: paceSchema.meta({ description: 'The mean since the period began.' }),
    last_24_hours: paceSchema.meta({ description: 'Of the running hour and the 23 before it.' }),
  })
  .meta({ id: 'PaceOfLimit' });

export const paceAnswerSchema = z.object({
  account_id: id,
  payer_id: id,
  status: billingStatusSchema,
  billing_period: z.object({ started_at: second, ended_at: second, plan_name: z.string() }),
  elapsed_share: z.number().min(0).max(1),
  limits: z
    .object({
      points_limit: limitPaceSchema.optional(),
      time_sec_limit: limitPaceSchema.optional(),
      traffic_bytes_limit: limitPaceSchema.optional(),
    })
    .meta({ description: 'Those that are enforced.' }),
});
