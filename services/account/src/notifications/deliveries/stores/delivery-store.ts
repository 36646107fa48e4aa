import { singleRow } from '../../../platform/database/single-row.ts';
import type { Query } from '../../../platform/database/query.ts';
import type { Page } from '../../../http/input/page.ts';
import { ATTEMPT_LOG, asAttempt } from './attempt-store.ts';
import type { DeliveryAttempt, JsonAttempt } from './attempt-store.ts';
import { newMessageId } from '../event.ts';
import type { WebhookEvent } from '../event.ts';
import type { DeliveryError } from '../delivery-errors.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type Delivery = {
  delivery_id: number;
  message_id: string;
  event_type: WebhookEvent['type'];
  status: DeliveryStatus;
  /** Finished ones. */
  attempts: number;
  /** Null unless pending. */
  next_attempt_at: Date | null;
  created_at: Date;
  /** This and the next three describe the last attempt; null before the first. */
  attempted_at: Date | null;
  response_status: number | null;
  duration_ms: number | null;
  error: DeliveryError | null;
  /** Newest first. */
  attempt_log: DeliveryAttempt[];
};

type DeliveryRow = Omit<Delivery, 'attempt_log'> & { attempt_log: JsonAttempt[] };

const COLUMNS = `delivery_id, message_id, event_type, status, attempts, next_attempt_at, created_at, attempted_at,
  response_status, duration_ms, error, ${ATTEMPT_LOG}`;

/**
 * In the event's transaction. The lock keeps a webhook from being disabled meanwhile: its deliveries would
 * stay pending.
 */
export async function enqueueDeliveries(
  query: Query,
  accountId: number,
  events: readonly WebhookEvent[],
): Promise<void> {
  const webhooks = await query<{ webhook_id: number }>(
    `SELECT webhook_id FROM webhooks WHERE account_id = :accountId AND disabled_at IS NULL
     ORDER BY webhook_id FOR SHARE`,
    { accountId },
  );
  for (const { webhook_id } of webhooks) {
    for (const event of events) await enqueueDelivery(query, webhook_id, event);
  }
}

/** The webhook is locked. */
export async function enqueueDelivery(
  query: Query,
  webhookId: number,
  { type, timestamp, data }: WebhookEvent,
): Promise<Delivery> {
  const rows = await query<DeliveryRow>(
    `INSERT INTO webhook_deliveries (webhook_id, message_id, event_type, payload)
     VALUES (:webhookId, :message_id, :type, :payload) RETURNING ${COLUMNS}`,
    { webhookId, message_id: newMessageId(), type, payload: JSON.stringify({ type, timestamp, data }) },
  );
  return asDelivery(singleRow(rows));
}

/** Newest first. */
export async function listDeliveries(
  query: Query,
  webhookId: number,
  { limit, before, status }: Page & { status: DeliveryStatus | null },
): Promise<Delivery[]> {
  const rows = await query<DeliveryRow>(
    `SELECT ${COLUMNS} FROM webhook_deliveries
     WHERE webhook_id = :webhookId AND delivery_id < :before
       AND (CAST(:status AS text) IS NULL OR status = :status)
     ORDER BY delivery_id DESC LIMIT :limit`,
    { webhookId, before, status, limit },
  );
  return rows.map(asDelivery);
}

export type AccountDelivery = Delivery & { webhook_id: number; url: string };

/** To all webhooks of an account, newest first. */
export async function listAccountDeliveries(
  query: Query,
  accountId: number,
  { limit, before }: Page,
): Promise<AccountDelivery[]> {
  const rows = await query<DeliveryRow & Pick<AccountDelivery, 'webhook_id' | 'url'>>(
    `SELECT webhook_id, (SELECT url FROM webhooks WHERE webhooks.webhook_id = webhook_deliveries.webhook_id) AS url,
       ${COLUMNS} FROM webhook_deliveries
     WHERE webhook_id IN (SELECT webhook_id FROM webhooks WHERE account_id = :accountId) AND delivery_id < :before
     ORDER BY delivery_id DESC LIMIT :limit`,
    { accountId, before, limit },
  );
  return rows.map(({ webhook_id, url, ...row }) => ({ ...asDelivery(row), webhook_id, url }));
}

/** Undefined if there is no such delivery. */
export async function makeDue(
  query: Query,
  webhookId: number,
  deliveryId: number,
): Promise<{ before: DeliveryState; delivery: Delivery } | undefined> {
  const [before] = await query<DeliveryState>(
    `SELECT status, next_attempt_at FROM webhook_deliveries
     WHERE webhook_id = :webhookId AND delivery_id = :deliveryId FOR UPDATE`,
    { webhookId, deliveryId },
  );
  if (before === undefined) return undefined;
  const rows = await query<DeliveryRow>(
    `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = clock_timestamp()
     WHERE delivery_id = :deliveryId RETURNING ${COLUMNS}`,
    { deliveryId },
  );
  return { before, delivery: asDelivery(singleRow(rows)) };
}

type DeliveryState = Pick<Delivery, 'status' | 'next_attempt_at'>;

function asDelivery({ attempt_log, ...rest }: DeliveryRow): Delivery {
  return { ...rest, attempt_log: attempt_log.map(asAttempt) };
}
