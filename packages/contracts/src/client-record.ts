import { z } from 'zod';

/**
 * Answer of account's `GET /private/clients/{client_id}`: what auth needs to authenticate an OAuth client
 * and to issue its tokens. Unknown and deleted clients are 404 `not_found`.
 */
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
