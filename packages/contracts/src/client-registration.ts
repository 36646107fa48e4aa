import { z } from 'zod';

/** What auth asks account about clients that register themselves (RFC 7591, docs/design/authorization.md). */

/** Body of account's `POST /private/client-registrations`: what a client says of itself. */
export const clientRegistrationSchema = z.strictObject({
  redirect_uris: z.array(z.string().max(2_000)).max(100),
  client_name: z.string().max(1_000).optional(),
  /** By an initial access token: the limits of open registration don't apply. */
  is_trusted: z.boolean(),
  address: z.string().min(1).max(100),
});

export type ClientRegistration = z.infer<typeof clientRegistrationSchema>;

/** Its response. A refusal is an outcome, so that auth can answer by RFC 7591. */
export const registrationAnswerSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('registered'),
    client_id: z.uuid(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    /** Unix seconds. */
    issued_at: z.int(),
  }),
  z.strictObject({
    outcome: z.enum(['invalid_redirect_uri', 'invalid_client_metadata']),
    description: z.string(),
  }),
  z.strictObject({ outcome: z.literal('too_many'), retry_after_sec: z.int().min(1) }),
]);

export type RegistrationAnswer = z.infer<typeof registrationAnswerSchema>;
