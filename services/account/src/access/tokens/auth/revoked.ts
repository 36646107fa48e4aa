import type { Query } from '../../../platform/database/query.ts';

/** Issued tokens that were revoked one by one: auth holds the tokens, and Redis may lose writes. */

export type RevokedToken = { application_id: number; token_hash: string };

/**
 * Idempotent. Without `expiresAt`, it is kept for the longest token lifespan that the application ever had.
 */
export async function insertRevoked(
  query: Query,
  { application_id, token_hash }: RevokedToken,
  expiresAt: Date | null,
): Promise<void> {
  await query(
    `INSERT INTO revoked_tokens (application_id, token_hash, expires_at)
     SELECT application_id, :token_hash, coalesce(:expiresAt, now() + interval '1 second' * greatest(
       token_lifespan_sec,
       (SELECT max(CAST(details ->> 'token_lifespan_sec_before' AS bigint)) FROM audit_log
        WHERE audit_log.application_id = applications.application_id AND action = 'application_changed')))
     FROM applications WHERE application_id = :application_id
     ON CONFLICT (application_id, token_hash) DO NOTHING`,
    { application_id, token_hash, expiresAt },
  );
}

/** Ordered by hash. */
export async function revokedAfter(
  query: Query,
  clientId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await query<{ token_hash: string }>(
    `SELECT token_hash FROM revoked_tokens JOIN applications USING (application_id)
     WHERE client_id = :clientId AND token_hash > :after ORDER BY token_hash LIMIT :limit`,
    { clientId, after, limit },
  );
  return rows.map(({ token_hash }) => token_hash);
}
