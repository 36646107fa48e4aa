import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { DisabledReason } from '../deliveries/disable-webhook.ts';

export type Webhook = {
  webhook_id: number;
  url: string;
  description: string;
  created_at: Date;
  /** Null if it is enabled. */
  disabled_at: Date | null;
  disabled_reason: DisabledReason | null;
  /** The first failed attempt since the last success. */
  failing_since: Date | null;
  previous_secret_expires_at: Date | null;
};

export type WebhookKey = { webhook_id: number; account_id: number };

const COLUMNS = `webhook_id, url, description, created_at, disabled_at, disabled_reason, failing_since,
  (SELECT max(expires_at) FROM webhook_secrets
   WHERE webhook_secrets.webhook_id = webhooks.webhook_id AND expires_at > now()) AS previous_secret_expires_at`;

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

export async function lockWebhook(query: Query, key: WebhookKey): Promise<Webhook | undefined> {
  const rows = await query<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE webhook_id = :webhook_id AND account_id = :account_id
     FOR NO KEY UPDATE`,
    key,
  );
  return rows[0];
}

/** Exact while the account is locked. */
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

/** A new URL starts without failures, and as one that hasn't been quick yet. */
export async function storeWebhook(
  query: Query,
  { webhook_id, url, description }: Pick<Webhook, 'webhook_id' | 'url' | 'description'>,
): Promise<void> {
  await query(
    `UPDATE webhooks SET url = :url, description = :description,
       failing_since = CASE WHEN url = :url THEN failing_since END,
       quick_from = CASE WHEN url = :url THEN quick_from END
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

/** Deletes its secrets and deliveries too. */
export async function deleteWebhook(query: Query, webhookId: number): Promise<void> {
  await query('DELETE FROM webhooks WHERE webhook_id = :webhookId', { webhookId });
}
