import { z } from 'zod';
import { tokenHashSchema } from './client-record.ts';

/** What auth and account tell each other of tokens made by hand, on account's private listener. */

/**
 * Answer of `GET /private/hand-made-tokens/clients?after=0`: the clients with live tokens made by hand, a page of
 * them; `next_after` is the next page's `after`, null at the end.
 */
export const clientPageSchema = z.object({
  client_ids: z.array(z.uuid()),
  next_after: z.int().nullable(),
});

export type ClientPage = z.infer<typeof clientPageSchema>;

/** How many uses one report may hold. */
export const MAX_USES_PER_REPORT = 10_000;

/**
 * Body of `POST /private/hand-made-tokens/uses`: tokens that auth has lately found active. Answered with 204, also
 * where some are unknown; the same report twice does no harm.
 */
export const tokenUsesSchema = z.strictObject({
  uses: z
    .array(
      z.strictObject({
        token_hash: tokenHashSchema,
        /** Seconds since the epoch. */
        used_at: z.int().min(0).max(253_402_300_799),
      }),
    )
    .max(MAX_USES_PER_REPORT),
});

export type TokenUses = z.infer<typeof tokenUsesSchema>;

/**
 * Body of `POST /private/clients/{client_id}/revoked-tokens`: the client gives back a token of its own (RFC 7009),
 * issued or made by hand. Answered with 204 when that is committed; the same where it is revoked already.
 */
export const clientRevocationSchema = z.strictObject({
  token_hash: tokenHashSchema,
  /** The token's `exp`, where auth knows the token. */
  expires_at: z.int().min(0).max(253_402_300_799).optional(),
  /** The IP address that the client called from; it goes to the audit log. */
  address: z.string().min(1).max(100),
});

export type ClientRevocation = z.infer<typeof clientRevocationSchema>;
