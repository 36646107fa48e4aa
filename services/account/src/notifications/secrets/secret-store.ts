import type { Query } from '../../platform/database/query.ts';
import type { SealedTable } from '../../platform/sealing/reseal.ts';
import { seal, unseal } from '../../platform/sealing/sealing.ts';
import type { Sealed, SealingKey } from '../../platform/sealing/sealing.ts';
import { secretOwner } from './secret.ts';

/** For the program `reseal`. */
export const SEALED_WEBHOOK_SECRETS: SealedTable<{ webhook_id: number }> = {
  table: 'webhook_secrets',
  id: 'secret_id',
  sealed: 'sealed_secret',
  ownerColumns: ['webhook_id'],
  ownerOf: secretOwner,
};

export async function insertSecret(
  query: Query,
  webhook_id: number,
  secret: string,
  keys: readonly SealingKey[],
): Promise<void> {
  await query(
    `INSERT INTO webhook_secrets (webhook_id, sealing_key_id, sealed_nonce, sealed_secret)
     VALUES (:webhook_id, :sealing_key_id, :sealed_nonce, :sealed)`,
    { webhook_id, ...seal(secret, secretOwner({ webhook_id }), keys) },
  );
}

/**
 * Undefined if only the current secret signs. A statement of its own after the webhook's lock: one that waits for the
 * lock reads other tables as they were before.
 */
export async function previousSecretEnd(query: Query, webhookId: number): Promise<Date | undefined> {
  const rows = await query<{ expires_at: Date }>(
    'SELECT expires_at FROM webhook_secrets WHERE webhook_id = :webhookId AND expires_at > now()',
    { webhookId },
  );
  return rows[0]?.expires_at;
}

/** The current secret signs during the overlap. Older ones have ended. */
export async function endSecrets(query: Query, webhookId: number, overlapSec: number): Promise<void> {
  await query('DELETE FROM webhook_secrets WHERE webhook_id = :webhookId AND expires_at IS NOT NULL', {
    webhookId,
  });
  await query(
    `UPDATE webhook_secrets SET expires_at = now() + CAST(:overlapSec AS integer) * interval '1 second'
     WHERE webhook_id = :webhookId`,
    { webhookId, overlapSec },
  );
}

/** False if no previous secret signs any more. */
export async function endPreviousSecrets(query: Query, webhookId: number): Promise<boolean> {
  const rows = await query(
    `DELETE FROM webhook_secrets WHERE webhook_id = :webhookId AND expires_at IS NOT NULL
     RETURNING 1`,
    { webhookId },
  );
  return rows.length > 0;
}

/** Newest first. @throws {Problem} internal_error if one can't be decrypted */
export async function liveSecrets(
  query: Query,
  webhook_id: number,
  keys: readonly SealingKey[],
): Promise<string[]> {
  const rows = await query<Sealed>(
    `SELECT sealing_key_id, sealed_nonce, sealed_secret AS sealed FROM webhook_secrets
     WHERE webhook_id = :webhook_id AND (expires_at IS NULL OR expires_at > now())
     ORDER BY expires_at DESC NULLS FIRST`,
    { webhook_id },
  );
  return rows.map((row) => unseal(row, secretOwner({ webhook_id }), keys));
}
