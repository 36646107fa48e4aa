import { z } from 'zod';
import { billingStatusSchema, LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { id, nextCursor } from '../../../http/answer-fields.ts';

const second = z.iso.datetime({ precision: 0 }).meta({ examples: ['2026-07-01T00:00:00Z'] });

const ownPeriodSchema = z
  .object({
    period_id: id,
    plan_name: z.string(),
    product: z.object({ name: z.string() }).nullable(),
    started_at: second,
    ended_at: second.meta({ description: 'The last second of the period.' }),
    status: billingStatusSchema.meta({
      description: '`expired` for a period that another one followed, unless it was blocked itself.',
    }),
    limits: z
      .record(z.enum(LIMIT_FIELDS), z.int().min(0).nullable())
      .meta({ description: 'Null if the plan does not limit it.' }),
    usage: z
      .record(z.enum(USAGE_FIELDS), z.int().min(0))
      .meta({ description: 'All usage charged to the period, that of team members included.' }),
    overuse_points: z.int().min(0).meta({
      description:
        'Points that were used beyond the plan and all credits, such as by calls that were under way when they ran out.',
    }),
  })
  .meta({ id: 'BillingPeriod' });

export const ownPeriodsAnswerSchema = z.object({
  periods: z.array(ownPeriodSchema),
  next_cursor: nextCursor,
});
