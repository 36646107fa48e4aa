import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';

/** Answers about sessions, as the API's document describes them. */

export const sessionSchema = z
  .object({
    account_id: id,
    email: z.string(),
    name: z.string(),
    email_verified: z.boolean(),
    blocked: z.boolean().meta({ description: 'Who is blocked sees everything and makes no tokens.' }),
    session_id: id,
    expires_at: instant,
    csrf_token: z.string().meta({ description: 'For the header X-CSRF-Token.' }),
  })
  .meta({ id: 'Session' });

export const sessionListSchema = z.object({
  sessions: z.array(
    z.object({
      session_id: id,
      current: z.boolean().meta({ description: 'The one that asks.' }),
      created_at: instant,
      last_seen_at: instant.meta({ description: 'Exact to a minute.' }),
      expires_at: instant,
      address: z.string(),
      user_agent: z.string(),
    }),
  ),
});
