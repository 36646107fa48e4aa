import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';
import { memberRoleSchema } from '../accounts/member-roles.ts';
import { FACTORS } from './factors.ts';

export const sessionSchema = z
  .object({
    account_id: id,
    email: z.string(),
    name: z.string(),
    email_verified: z.boolean(),
    blocked: z
      .boolean()
      .meta({ description: 'A blocked account can read everything, but cannot create credentials.' }),
    deletion_due_at: instant
      .nullable()
      .meta({ description: 'Null unless the account is being deleted; then it can only be restored.' }),
    member_role: memberRoleSchema
      .nullable()
      .meta({ description: 'Null unless the account is a member of a team.' }),
    sso_required: z.boolean().meta({
      description: 'Whether the team wants single sign-on, without which this session opens nothing else.',
    }),
    session_id: id,
    expires_at: instant,
    csrf_token: z.string().meta({ description: 'Send it in the `X-CSRF-Token` header.' }),
  })
  .meta({ id: 'Session' });

export const secondStepSchema = z
  .object({
    sign_in_token: z.string().meta({ description: 'Send it with the second step. It is no session.' }),
    factors: z.array(z.enum(FACTORS)).meta({ description: 'What can complete the sign-in; one is enough.' }),
    expires_at: instant,
  })
  .meta({ id: 'SecondStep' });

export const sessionListSchema = z.object({
  sessions: z.array(
    z.object({
      session_id: id,
      current: z.boolean().meta({ description: 'Whether this is the session of the request.' }),
      created_at: instant,
      last_seen_at: instant.meta({ description: 'Accurate to one minute.' }),
      expires_at: instant,
      address: z.string(),
      user_agent: z.string(),
    }),
  ),
});
