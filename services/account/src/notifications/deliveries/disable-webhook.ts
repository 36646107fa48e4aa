import type { Query } from '../../platform/database/query.ts';

export type DisabledReason = 'owner' | 'gone' | 'failing';

/** Also fails its pending deliveries. */
export async function disableWebhook(query: Query, webhookId: number, reason: DisabledReason): Promise<void> {
  await query(
    `UPDATE webhooks SET disabled_at = now(), disabled_reason = :reason
     WHERE webhook_id = :webhookId AND disabled_at IS NULL`,
    { webhookId, reason },
  );
  await query(
    `UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL, error = 'webhook_disabled'
     WHERE webhook_id = :webhookId AND status = 'pending'`,
    { webhookId },
  );
}
