import { z } from 'zod';

export const clientRecordSchema = z.object({
  client_id: z.uuid(),
  application_id: z.int(),
  /** Null for a client that registered itself; its tokens are connections', which have accounts. */
  account_id: z.int().nullable(),
  status: z.enum(['active', 'revoked']),
  /**
   * Of an application that acts for other people (docs/design/authorization.md): how it authenticates. It gets tokens by
   * authorization codes only, and no other application does.
   */
  authorization: z.enum(['public', 'confidential']).optional(),
  token_lifespan_sec: z.int().min(60),
  /** Grows with every revocation; a token issued under a smaller epoch is dead. */
  revocation_epoch: z.int().min(0),
  /** Live, at most two: HMAC-SHA-256 under the named pepper, base64url. Never the secret itself. */
  secrets: z
    .array(
      z.object({
        pepper_id: z.string(),
        hmac: z.string(),
        /** ISO 8601; null until a rotation sets an end. */
        expires_at: z.iso.datetime().nullable(),
      }),
    )
    .max(2),
});

export type ClientRecord = z.infer<typeof clientRecordSchema>;

/** SHA-256 of an access token in base64url, as @tollgate/credentials/access-token makes it. */
export const tokenHashSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const manualTokenSchema = z.object({
  token_hash: tokenHashSchema,
  iat: z.int(),
  exp: z.int(),
  /** The application's revocation epoch when the token was issued. */
  epoch: z.int().min(0),
});

export type ManualToken = z.infer<typeof manualTokenSchema>;

/** Response of account's `GET /private/clients/{client_id}`, read in one snapshot. 404 `not_found`. */
export const clientAnswerSchema = clientRecordSchema.extend({
  manual_tokens: z.array(manualTokenSchema),
});

/** Response of `GET /private/clients/{client_id}/revoked-tokens?after=`; `next_after` is null at the end. */
export const revokedTokensSchema = z.object({
  token_hashes: z.array(tokenHashSchema),
  next_after: tokenHashSchema.nullable(),
});

export type RevokedTokens = z.infer<typeof revokedTokensSchema>;

export type ClientAnswer = z.infer<typeof clientAnswerSchema>;
