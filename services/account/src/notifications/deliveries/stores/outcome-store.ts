import { recordAudit } from '../../../platform/audit/audit-log.ts';
import type { Actor } from '../../../platform/audit/audit-log.ts';
import type { Query } from '../../../platform/database/query.ts';
import { findAccount } from '../../../identity/accounts/account-store.ts';
import { enqueueMail } from '../../../mail/mail-outbox.ts';
import { keepAttempt } from './attempt-store.ts';
import { disableReason, retryDelayMs } from '../delivery-rules.ts';
import type { RetryRules } from '../delivery-rules.ts';
import type { DeliveryStatus } from './delivery-store.ts';
import { disableWebhook } from '../disable-webhook.ts';
import type { DueDelivery } from './lease-store.ts';
import type { Outcome } from '../send.ts';
import type { WebhookMail } from '../webhook-mail.ts';

export type Recorded = { status: DeliveryStatus; disabled: 'gone' | 'failing' | null };

const WORKER: Actor = { actor: 'webhook-delivery', address: 'none', request_id: 'none' };

/** A slot that is held for longer delays others noticeably. Receivers should answer first and work afterwards. */
const QUICK_ATTEMPT_MS = 3_000;

type Locked = { account_id: number; enabled: boolean; failing_for_sec: number };

/**
 * Also ends the lease, and disables a webhook that is gone or has failed for too long. `heldMs` is how long the attempt
 * occupied its slot.
 */
export async function recordOutcome(
  query: Query,
  { delivery_id, webhook_id }: DueDelivery,
  outcome: Outcome,
  heldMs: number,
  rules: RetryRules,
): Promise<Recorded> {
  const rows = await query<Locked>(
    `SELECT account_id, disabled_at IS NULL AS enabled,
            CAST(coalesce(extract(epoch FROM clock_timestamp() - failing_since), 0) AS float8) AS failing_for_sec
     FROM webhooks WHERE webhook_id = :webhook_id FOR NO KEY UPDATE`,
    { webhook_id },
  );
  const [webhook] = rows;
  // The webhook was deleted meanwhile, with its deliveries.
  if (webhook === undefined) return { status: 'failed', disabled: null };
  const isDelivered = outcome.error === null;
  await query(
    `UPDATE webhooks SET leased_until = clock_timestamp(),
       failing_since = CASE WHEN :isDelivered THEN NULL ELSE coalesce(failing_since, clock_timestamp()) END,
       quick_from = CASE WHEN :isSlow THEN clock_timestamp() + interval '1 hour'
         WHEN :isDelivered THEN coalesce(quick_from, clock_timestamp()) ELSE quick_from END
     WHERE webhook_id = :webhook_id`,
    { webhook_id, isDelivered, isSlow: heldMs > QUICK_ATTEMPT_MS },
  );
  const attempts = await countAttempt(query, delivery_id, outcome);
  const isOver = isDelivered || !webhook.enabled;
  const failure = { gone: outcome.error === 'gone', failingForSec: webhook.failing_for_sec };
  const disabled = isOver ? null : disableReason(failure, rules);
  const tried = { attempts, retryAfterSec: outcome.retry_after_sec };
  const retryInMs = isOver || disabled !== null ? null : retryDelayMs(tried, rules, Math.random());
  const status = isDelivered ? 'delivered' : retryInMs === null ? 'failed' : 'pending';
  await storeStatus(query, delivery_id, { status, retryInMs });
  await keepAttempt(query, delivery_id);
  if (disabled !== null)
    await disable(query, { webhook_id, account_id: webhook.account_id, reason: disabled });
  return { status, disabled };
}

async function countAttempt(query: Query, deliveryId: number, outcome: Outcome): Promise<number> {
  const rows = await query<{ attempts: number }>(
    `UPDATE webhook_deliveries SET attempts = attempts + 1, attempted_at = clock_timestamp(),
       response_status = :response_status, duration_ms = :duration_ms, error = :error
     WHERE delivery_id = :deliveryId RETURNING attempts`,
    { ...outcome, deliveryId },
  );
  return rows[0]?.attempts ?? 0;
}

async function storeStatus(
  query: Query,
  deliveryId: number,
  { status, retryInMs }: { status: DeliveryStatus; retryInMs: number | null },
): Promise<void> {
  await query(
    `UPDATE webhook_deliveries SET status = :status,
       next_attempt_at = clock_timestamp() + CAST(:retryInMs AS float8) * interval '1 millisecond'
     WHERE delivery_id = :deliveryId`,
    { deliveryId, status, retryInMs },
  );
}

async function disable(
  query: Query,
  off: { webhook_id: number; account_id: number; reason: 'gone' | 'failing' },
): Promise<void> {
  const { webhook_id, account_id, reason } = off;
  await disableWebhook(query, webhook_id, reason);
  const entry = { ...WORKER, action: 'webhook_disabled' as const, account_id, application_id: null };
  await recordAudit(query, { ...entry, details: { webhook_id, reason } });
  const account = await findAccount(query, account_id);
  if (account === undefined || account.email_verified_at === null) return;
  const mail: WebhookMail = { kind: 'webhook_disabled', recipient: account.email, account_id, webhook_id };
  await enqueueMail(query, mail);
}
