import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import { billingStatusSchema } from '@tollgate/contracts/entitlement';
import { z } from 'zod';
import { memberBudgetSchema } from '../../billing/budgets/answers.ts';
import { id, instant } from '../../http/answer-fields.ts';
import { memberRoleSchema } from '../../identity/accounts/member-roles.ts';

const roleSchema = z.enum(['manager', 'member']);

const memberUsageSchema = z
  .record(z.enum(USAGE_FIELDS), z.int())
  .nullable()
  .meta({ description: 'In the current billing period; null without one.' });

const memberSchema = z.object({
  account_id: id,
  name: z.string(),
  email: z.string(),
  role: roleSchema,
  member_role: memberRoleSchema.nullable().meta({ description: 'Null for the manager.' }),
  joined_at: instant,
});

export const invitationSchema = z
  .object({ invitation_id: id, email: z.string(), created_at: instant, expires_at: instant })
  .meta({ id: 'Invitation' });

const sentInvitationSchema = invitationSchema
  .extend({
    member_role: memberRoleSchema,
    status: z.enum(['pending', 'expired']).meta({
      description: 'An expired invitation holds no slot and can be sent again.',
    }),
  })
  .meta({ id: 'SentInvitation' });

const teamSchema = z.object({
  team_id: id,
  name: z.string(),
  created_at: instant,
  allows_applications: z
    .boolean()
    .meta({ description: 'Whether applications may act for members who authorize them.' }),
  payer_id: id,
  billing_status: z
    .enum([...billingStatusSchema.options, 'none'])
    .meta({ description: "The status of the payer's billing period; `none` without one." }),
  slots: z.object({
    used: z.int().meta({ description: 'Members and pending invitations.' }),
    limit: z.int().nullable().meta({ description: 'Null if the plan has no limit.' }),
  }),
});

const memberViewSchema = teamSchema
  .extend({
    role: z.literal('member'),
    members: z.array(memberSchema),
    budget: memberBudgetSchema.nullable().meta({ description: "The caller's own; null without one." }),
  })
  .meta({ id: 'TeamOfMember', description: 'What a member sees.' });

const managerViewSchema = teamSchema
  .extend({
    role: z.literal('manager'),
    members: z.array(
      memberSchema.extend({
        usage: memberUsageSchema,
        budget: memberBudgetSchema.nullable().meta({ description: 'Null without one.' }),
      }),
    ),
    former_members_usage: memberUsageSchema,
    invitations: z.array(sentInvitationSchema),
  })
  .meta({ id: 'TeamOfManager', description: 'What the manager sees.' });

export const teamAnswerSchema = z.discriminatedUnion('role', [managerViewSchema, memberViewSchema]);

/** The previous manager becomes a member. */
export const handedOverSchema = memberViewSchema
  .extend({
    warning: z
      .string()
      .nullable()
      .meta({ description: "Set if the new payer's billing period does not allow calls." }),
  })
  .meta({ id: 'TeamHandedOver' });

export const receivedInvitationSchema = invitationSchema
  .extend({ team_name: z.string(), invited_by_name: z.string(), invited_by_email: z.string() })
  .meta({ id: 'ReceivedInvitation' });

export const receivedInvitationsSchema = z.object({ invitations: z.array(receivedInvitationSchema) });
