import { z } from 'zod';

/**
 * Answer of auth's `POST /oauth2/introspect` (RFC 7662, section 2.2). Anything that isn't an active token
 * is exactly `{"active":false}`. The last three members are Tollgate's extensions; the
 * payer is left out on purpose: it changes with team membership while the token lives (ADR 0005).
 */
export const introspectionSchema = z.discriminatedUnion('active', [
  z.object({
    active: z.literal(true),
    scope: z.string(),
    client_id: z.string(),
    /** The account id as a string (RFC 7662 `sub`). */
    sub: z.string(),
    token_type: z.literal('bearer'),
    /** Seconds since the epoch. */
    exp: z.int(),
    /** Seconds since the epoch. */
    iat: z.int(),
    account_id: z.int(),
    application_id: z.int(),
    /**
     * The time left until `exp` as the answer was made, by Redis' clock: what a cache counts by, so that its own
     * clock may be wrong. Missing from an auth of the version before.
     */
    expires_in_ms: z.int().min(1).optional(),
    /** The application's revocation epoch when the token was issued; auths of the version before don't tell. */
    revocation_epoch: z.int().optional(),
  }),
  z.object({ active: z.literal(false) }),
]);

export type Introspection = z.infer<typeof introspectionSchema>;
export type ActiveToken = Extract<Introspection, { active: true }>;
