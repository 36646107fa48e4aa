import { z } from 'zod';
import { tokenHashSchema } from './client-record.ts';

/** What auth asks account about authorization codes and refresh tokens (docs/design/authorization.md). */

/** S256 of RFC 7636: SHA-256 in base64url. */
export const codeChallengeSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** An absolute URI, as the client sent it (RFC 8707). */
const resource = z.string().max(2_000).optional();

/** Body of account's `POST /private/grants/exchange`. Of tokens and codes, account gets hashes only. */
export const codeExchangeSchema = z.strictObject({
  /** The application that presents the code, authenticated by auth. */
  client_id: z.uuid(),
  code_hash: tokenHashSchema,
  redirect_uri: z.string().max(2_000),
  /** Of the verifier that the application sent. */
  code_challenge: codeChallengeSchema,
  resource,
  /** Drawn by auth: the client ID of the connection that the code becomes. */
  connection_client_id: z.uuid(),
  refresh_token_hash: tokenHashSchema,
  address: z.string().min(1).max(100),
});

export type CodeExchange = z.infer<typeof codeExchangeSchema>;

/** Body of account's `POST /private/grants/refresh`; idempotent while the successor hasn't been used. */
export const refreshSchema = z.strictObject({
  client_id: z.uuid(),
  /** Named by the refresh token. */
  connection_client_id: z.uuid(),
  refresh_token_hash: tokenHashSchema,
  resource,
  /** A part of what was granted, for this access token alone. */
  scope: z.string().max(200).optional(),
  /** Drawn by auth; the successor is derived from it and the presented token. */
  nonce: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  successor_hash: tokenHashSchema,
  address: z.string().min(1).max(100),
});

export type Refresh = z.infer<typeof refreshSchema>;

/** Response of both. */
export const grantAnswerSchema = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('granted'),
    /** Of the connection, whose token it will be. */
    client_id: z.uuid(),
    application_id: z.int(),
    account_id: z.int(),
    revocation_epoch: z.int().min(0),
    token_lifespan_sec: z.int().min(60),
    /** The resource server that the token is for (RFC 8707); null: the data API. */
    audience: z.string().nullable(),
    /** Of the access token; absent if it is `api`, as in answers of an earlier version. */
    scope: z.string().optional(),
    /** Of a refresh: the nonce of the first time that the token was presented. */
    nonce: z.string().nullable(),
  }),
  z.strictObject({ outcome: z.enum(['invalid_grant', 'invalid_target', 'invalid_scope']) }),
]);

export type GrantAnswer = z.infer<typeof grantAnswerSchema>;
export type Granted = Extract<GrantAnswer, { outcome: 'granted' }>;

/** Body of account's `POST /private/grants/end` (RFC 7009); idempotent, 204 once committed. */
export const grantEndSchema = z.strictObject({
  client_id: z.uuid(),
  connection_client_id: z.uuid(),
  /** Absent if auth knows that an access token of the connection was presented. */
  refresh_token_hash: tokenHashSchema.optional(),
  address: z.string().min(1).max(100),
});

export type GrantEnd = z.infer<typeof grantEndSchema>;
