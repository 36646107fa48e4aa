import { z } from 'zod';
import { CREDIT_SOURCES } from '../../billing/credits/allocation.ts';
import { id, instant } from '../../http/answer-fields.ts';

const count = z.int().min(0);

const lostCredits = z
  .array(
    z.object({
      credit_id: id,
      source: z.enum(CREDIT_SOURCES),
      points_remaining: count,
      expires_at: instant.nullable(),
    }),
  )
  .meta({ description: 'Credits with points left, which are lost when the account is erased.' });

export const accountDeletionSchema = z
  .object({
    state: z.enum(['none', 'pending']),
    requested_at: instant.nullable(),
    due_at: instant.nullable().meta({ description: 'When personal data is erased. Null unless pending.' }),
    grace_days: count.meta({ description: 'Days between a request and the erasure.' }),
    consequences: z
      .object({
        applications: count.meta({ description: 'Active applications, which are revoked at once.' }),
        tokens: count.meta({ description: 'Live manual tokens.' }),
        last_used_at: instant.nullable().meta({ description: 'When one of these tokens was last used.' }),
        webhooks: count.meta({ description: 'Enabled webhooks.' }),
        team: z
          .object({ name: z.string(), role: z.enum(['manager', 'member']), members: count })
          .nullable()
          .meta({ description: 'A manager must hand over or dissolve a team with other members first.' }),
        subscription_ends_at: instant.nullable(),
        credits: lostCredits,
      })
      .meta({ description: 'What a request would end now.' }),
  })
  .meta({ id: 'AccountDeletion' });

export const operatedDeletionSchema = z
  .object({
    account_id: id,
    requested_at: instant.nullable(),
    due_at: instant.nullable(),
    erased_at: instant.nullable(),
    consequences: z.object({
      applications: count,
      tokens: count,
      last_used_at: instant.nullable(),
      webhooks: count,
      team_name: z.string().nullable(),
      team_role: z.enum(['manager', 'member']).nullable(),
      team_members: count,
      subscription_ends_at: instant.nullable(),
      credits: lostCredits,
    }),
  })
  .meta({ id: 'OperatedDeletion' });
