import { z } from 'zod';
import { instant } from '../../http/answer-fields.ts';

export const providerAnswerSchema = z
  .object({
    issuer: z.string(),
    client_id: z.string(),
    created_at: instant,
    changed_at: instant,
    required_at: instant
      .nullable()
      .meta({ description: 'Since when members sign in only by it; null: they need not.' }),
    last_signed_in_at: instant.nullable(),
    last_failed_at: instant.nullable(),
    last_failure: z.string().nullable().meta({ description: 'Why the latest failed sign-in has failed.' }),
  })
  .meta({ id: 'TeamIdentityProvider' });

export const ssoSchema = z
  .object({
    redirect_uri: z.string().meta({ description: 'To register at the identity provider. The team’s own.' }),
    provider: providerAnswerSchema.nullable().meta({ description: 'Null: the team has none.' }),
    members: z.object({ covered: z.int(), uncovered: z.int() }).meta({
      description:
        'Members, without the manager, whose addresses are of a proven domain and can be required to use it, and others.',
    }),
    can_require: z
      .object({ signed_in_by_it: z.boolean(), has_second_factor: z.boolean() })
      .meta({ description: 'What the caller needs to require it: both.' }),
  })
  .meta({ id: 'TeamSso' });

export const authorizationSchema = z.object({
  authorization_url: z.string().meta({ description: 'Where the browser goes.' }),
});

/** What a test has found out; it signs in no one. */
export const testedSchema = z
  .object({
    subject: z.string(),
    name: z.string().nullable(),
    email: z.string().nullable(),
    email_verified: z.boolean().nullable().meta({ description: 'Null if the provider does not say.' }),
    domain_proven: z.boolean().meta({ description: 'Whether the address’s domain is the team’s.' }),
  })
  .meta({ id: 'TestedSso' });
