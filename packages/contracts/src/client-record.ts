import { z } from 'zod';

/** What auth needs to authenticate an OAuth client and to issue its tokens. */
export const clientRecordSchema = z.object({
  client_id: z.uuid(),
  application_id: z.int(),
  account_id: z.int(),
  status: z.enum(['active', 'revoked']),
  token_lifespan_sec: z.int().min(60),
  /** Grows with every revocation; a token issued under a smaller epoch is dead. */
  revocation_epoch: z.int().min(0),
  /** Live secrets, at most two: HMAC-SHA-256 under the named pepper, base64url. Never the secret itself. */
  secrets: z
    .array(
      z.object({
        pepper_id: z.string(),
        hmac: z.string(),
        /** ISO 8601; null while no rotation has set an end. */
        expires_at: z.iso.datetime().nullable(),
      }),
    )
    .max(2),
});

export type ClientRecord = z.infer<typeof clientRecordSchema>;

/** SHA-256 of an access token in base64url, as @tollgate/credentials/access-token makes it. */
export const tokenHashSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** A live token made by hand. */
const manualTokenSchema = z.object({
  token_hash: tokenHashSchema,
  /** Seconds since the epoch, like `exp`. */
  iat: z.int(),
  exp: z.int(),
  /** The application's revocation epoch when the token was made. */
  epoch: z.int().min(0),
});

export type ManualToken = z.infer<typeof manualTokenSchema>;

/**
 * Answer of account's `GET /private/clients/{client_id}`: the client and all of its live tokens made by hand, of
 * one moment. Unknown and deleted clients are 404 `not_found`.
 */
export const clientAnswerSchema = clientRecordSchema.extend({
  hand_made_tokens: z.array(manualTokenSchema),
});

/**
 * Answer of account's `GET /private/clients/{client_id}/revoked-tokens?after=`: hashes of the client's tokens that
 * were revoked one by one and may not have expired, a page of them in their order; `next_after` is the next page's
 * `after`, null at the end. An unknown client has none.
 */
export const revokedTokensSchema = z.object({
  token_hashes: z.array(tokenHashSchema),
  next_after: tokenHashSchema.nullable(),
});

export type RevokedTokens = z.infer<typeof revokedTokensSchema>;

export type ClientAnswer = z.infer<typeof clientAnswerSchema>;
