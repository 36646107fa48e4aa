import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { SealedTable } from '../../platform/sealing/reseal.ts';
import { seal, unseal } from '../../platform/sealing/sealing.ts';
import type { Sealed, SealingKey } from '../../platform/sealing/sealing.ts';
import { failPending } from '../deliveries/delivery-store.ts';
import { secretOwner } from './secret.ts';

/** Webhooks in Postgres. */

export type DisabledReason = 'owner' | 'gone' | 'failing';

export type Webhook = {
  webhook_id: number;
  url: string;
  description: string;
  created_at: Date;
  /** Null where it is on. */
  disabled_at: Date | null;
  disabled_reason: DisabledReason | null;
  /** The first failed attempt since the last one that succeeded. */
  failing_since: Date | null;
  /** Until when the secret before the present one signs too. */
  previous_secret_expires_at: Date | null;
};

/** Which webhook is meant: another account's is as good as none. */
export type WebhookKey = { webhook_id: number; account_id: number };

const COLUMNS = `webhook_id, url, description, created_at, disabled_at, disabled_reason, failing_since,
  (SELECT max(expires_at) FROM webhook_secrets
   WHERE webhook_secrets.webhook_id = webhooks.webhook_id AND expires_at > now()) AS previous_secret_expires_at`;

/** Where the secrets lie sealed, for the program `reseal`. */
export const SEALED_WEBHOOK_SECRETS: SealedTable<{ webhook_id: number }> = {
  table: 'webhook_secrets',
  id: 'secret_id',
  sealed: 'sealed_secret',
  ownerColumns: ['webhook_id'],
  ownerOf: secretOwner,
};

/** Newest first. */
export function listWebhooks(query: Query, accountId: number): Promise<Webhook[]> {
  return query<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE account_id = :accountId ORDER BY webhook_id DESC`,
    { accountId },
  );
}

export async function findWebhook(query: Query, key: WebhookKey): Promise<Webhook | undefined> {
  const rows = await query<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE webhook_id = :webhook_id AND account_id = :account_id`,
    key,
  );
  return rows[0];
}

/** The same, locked until the transaction's end: its changes come one after the other. */
export async function lockWebhook(query: Query, key: WebhookKey): Promise<Webhook | undefined> {
  const rows = await query<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE webhook_id = :webhook_id AND account_id = :account_id
     FOR NO KEY UPDATE`,
    key,
  );
  return rows[0];
}

/** Certain under the account's lock. */
export async function countWebhooks(query: Query, accountId: number): Promise<number> {
  const rows = await query<{ count: number }>(
    'SELECT count(*) AS count FROM webhooks WHERE account_id = :accountId',
    { accountId },
  );
  return singleRow(rows).count;
}

export async function insertWebhook(
  query: Query,
  made: Pick<Webhook, 'url' | 'description'> & { account_id: number },
): Promise<Webhook> {
  const rows = await query<Webhook>(
    `INSERT INTO webhooks (account_id, url, description) VALUES (:account_id, :url, :description)
     RETURNING ${COLUMNS}`,
    made,
  );
  return singleRow(rows);
}

/** One that leads elsewhere begins without a past. */
export async function storeWebhook(
  query: Query,
  { webhook_id, url, description }: Pick<Webhook, 'webhook_id' | 'url' | 'description'>,
): Promise<void> {
  await query(
    `UPDATE webhooks SET url = :url, description = :description,
       failing_since = CASE WHEN url = :url THEN failing_since END
     WHERE webhook_id = :webhook_id`,
    { webhook_id, url, description },
  );
}

export async function enableWebhook(query: Query, webhookId: number): Promise<void> {
  await query(
    `UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
     WHERE webhook_id = :webhookId AND disabled_at IS NOT NULL`,
    { webhookId },
  );
}

/** Switches a webhook off, with what waits for it. */
export async function disableWebhook(query: Query, webhookId: number, reason: DisabledReason): Promise<void> {
  await query(
    `UPDATE webhooks SET disabled_at = now(), disabled_reason = :reason
     WHERE webhook_id = :webhookId AND disabled_at IS NULL`,
    { webhookId, reason },
  );
  await failPending(query, webhookId);
}

/** With its secrets and deliveries. */
export async function deleteWebhook(query: Query, webhookId: number): Promise<void> {
  await query('DELETE FROM webhooks WHERE webhook_id = :webhookId', { webhookId });
}

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

/** The present secret signs for so long yet, and what was before it no more: at most two are live. */
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

/**
 * The secrets that sign, the present one first.
 * @throws {Problem} internal_error where one can't be opened
 */
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
