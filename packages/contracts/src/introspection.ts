import { z } from 'zod';

/**
 * Response of introspection (RFC 7662, 2.2). No payer: it changes with team membership (docs/design/entitlement.md).
 */
export const introspectionSchema = z.discriminatedUnion('active', [
  z.object({
    active: z.literal(true),
    scope: z.string(),
    client_id: z.string(),
    /** The account id. */
    sub: z.string(),
    token_type: z.literal('bearer'),
    exp: z.int(),
    iat: z.int(),
    account_id: z.int(),
    application_id: z.int(),
    /** Until `exp` by Redis' clock, as a cache's clock may be wrong. */
    expires_in_ms: z.int().min(1),
    /** The application's, when the token was issued. */
    revocation_epoch: z.int().min(0),
    /** The client ID of the application that acts for the account; absent if the token's own client does. */
    via: z.string().optional(),
    /** The resource server that the token was asked for (RFC 8707). */
    aud: z.string().optional(),
  }),
  z.object({ active: z.literal(false) }),
]);

export type Introspection = z.infer<typeof introspectionSchema>;
export type ActiveToken = Extract<Introspection, { active: true }>;
