import { z } from 'zod';
import { applicationFigures } from '../../billing/budgets/answers.ts';
import { delivered, id, instant, nextCursor } from '../../http/answer-fields.ts';

export const applicationSchema = z
  .object({
    application_id: id,
    account_id: id.nullable().meta({ description: 'Null for an application that registered itself.' }),
    name: z.string(),
    type: z.enum(['automatic', 'manual', 'authorization']).meta({
      description:
        'How the application is meant to get tokens: `automatic` with its client credentials, `manual` with manual tokens; both types can do both. `authorization` acts for other people, who authorize it.',
    }),
    token_lifespan_sec: z.int(),
    token_lifespan_label: z.string().meta({ description: 'The lifespan in words.', examples: ['24 hours'] }),
    client_id: z.uuid(),
    status: z.enum(['active', 'revoked']),
    revocation_epoch: z.int().min(0).meta({ description: 'Raised by each revocation.' }),
    created_at: instant,
    last_used_at: instant.nullable().meta({
      description: 'The last call with one of its tokens, to the minute; null if there was none.',
    }),
    budget: z
      .object(applicationFigures)
      .nullable()
      .meta({ description: 'What it may spend; null without a budget.' }),
    public_client: z
      .boolean()
      .meta({ description: 'Whether it has no client secret; only of type `authorization`.' }),
    redirect_uris: z.array(z.string()).meta({ description: 'Only of type `authorization`.' }),
    verified_at: instant.nullable().meta({
      description:
        'When an operator verified it, which people see before they authorize it; null if none has. A change of its name, of its redirect URIs or of the name of its account ends it.',
    }),
  })
  .meta({ id: 'Application' });

const client_secret = z.string().meta({ description: 'Returned by this response only.' });

const newSecret = client_secret
  .nullable()
  .meta({ description: 'Returned by this response only; null for a public client.' });

export const newApplicationAnswerSchema = applicationSchema.extend({ client_secret: newSecret });

export const applicationListAnswerSchema = z.object({
  applications: z.array(applicationSchema),
  next_cursor: nextCursor,
});

export const readApplicationSchema = applicationSchema.extend({
  secrets: z
    .array(
      z.object({
        created_at: instant,
        expires_at: instant.nullable().meta({ description: 'Null unless a rotation has set an end.' }),
      }),
    )
    .max(2)
    .meta({
      description:
        'When each live secret was created and expires, newest first. The secrets themselves are never returned.',
    }),
  active_manual_tokens: z.int().min(0).meta({ description: 'How many of its manual tokens are active.' }),
});

export const changedApplicationSchema = applicationSchema.extend({ delivered });

export const rotatedSecretSchema = changedApplicationSchema.extend({
  client_secret,
  previous_secret_expires_at: instant.nullable().meta({ description: 'Null if no other secret is live.' }),
});
