import { z } from 'zod';
import { delivered, id, instant, nextCursor } from '../../http/answer-fields.ts';

/** Answers about applications, as the API's document describes them. */

const applicationSchema = z
  .object({
    application_id: id,
    account_id: id,
    name: z.string(),
    type: z.enum(['automatic', 'manual']).meta({
      description:
        '`automatic` gets its tokens by its client credentials, `manual` has tokens made by hand; both can do both.',
    }),
    token_lifespan_sec: z.int(),
    token_lifespan_label: z.string().meta({ description: 'For people.', examples: ['24 hours'] }),
    client_id: z.uuid(),
    status: z.enum(['active', 'revoked']),
    revocation_epoch: z.int().min(0).meta({ description: 'Grows by one with each revocation.' }),
    created_at: instant,
  })
  .meta({ id: 'Application' });

const client_secret = z.string().meta({ description: 'Shown in this answer, and never again.' });

export const newApplicationAnswerSchema = applicationSchema.extend({ client_secret });

export const applicationListAnswerSchema = z.object({
  applications: z.array(applicationSchema),
  next_cursor: nextCursor,
});

export const readApplicationSchema = applicationSchema.extend({
  secrets: z
    .array(
      z.object({
        created_at: instant,
        expires_at: instant.nullable().meta({ description: 'Null while no rotation has set an end.' }),
      }),
    )
    .max(2)
    .meta({ description: 'Those that are live; never the secrets themselves.' }),
});

export const changedApplicationSchema = applicationSchema.extend({ delivered });

export const rotatedSecretSchema = changedApplicationSchema.extend({
  client_secret,
  previous_secret_expires_at: instant
    .nullable()
    .meta({ description: 'Null where no other secret is live any more.' }),
});
