import { singleRow } from '../../../platform/database/single-row.ts';
import type { Query } from '../../../platform/database/query.ts';
import type { BacklogGauges } from '../../../platform/outbox/backlog.ts';
import { msFromNow } from '../../../platform/outbox/leased-rows.ts';

/** The lease lets one message per webhook be under way at a time. */

export type LeasedWebhook = { webhook_id: number; url: string };

export type DueDelivery = { delivery_id: number; webhook_id: number; message_id: string; payload: string };

/** Whether a delivery is due; those that wait for a later attempt aren't. */
export const DELIVERIES_PENDING = `EXISTS (
  SELECT FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at <= clock_timestamp())`;

/**
 * Quick webhooks are those whose last attempt succeeded and none of whose last hour's was slow
 * (docs/design/deliveries.md).
 */
const IS_QUICK =
  '(failing_since IS NULL AND coalesce(quick_from <= clock_timestamp(), false)) = CAST(:quick AS boolean)';

export type Claim = {
  quick: boolean;
  limit: number;
  /** Webhooks of one account that may be leased at a time, over all replicas. */
  perAccount: number;
  leaseMs: number;
  except: readonly number[];
};

/** Accounts take turns: first those with the fewest webhooks leased, then the longest due. */
export function claimWebhooks(query: Query, wanted: Claim): Promise<LeasedWebhook[]> {
  return query<LeasedWebhook>(
    `WITH due AS (
       SELECT webhook_id, min(next_attempt_at) AS due_since FROM webhook_deliveries
       WHERE status = 'pending' AND next_attempt_at <= clock_timestamp() GROUP BY webhook_id
     ), waiting AS (
       SELECT webhook_id, due_since,
         row_number() OVER (PARTITION BY account_id ORDER BY due_since) + (
           SELECT count(*) FROM webhooks AS own WHERE own.account_id = webhooks.account_id
             AND own.leased_until > clock_timestamp() AND ${IS_QUICK}
         ) AS place
       FROM webhooks JOIN due USING (webhook_id)
       WHERE disabled_at IS NULL AND leased_until <= clock_timestamp()
         AND ${IS_QUICK} AND webhook_id <> ALL (CAST(:except AS bigint[]))
     )
     UPDATE webhooks SET leased_until = ${msFromNow('leaseMs')}
     WHERE webhook_id IN (
       SELECT webhooks.webhook_id FROM webhooks JOIN waiting USING (webhook_id)
       WHERE leased_until <= clock_timestamp() AND place <= :perAccount
       ORDER BY place, due_since LIMIT :limit FOR NO KEY UPDATE OF webhooks SKIP LOCKED
     ) RETURNING webhook_id, url`,
    { ...wanted, except: [...wanted.except] },
  );
}

/** Longest due first. A statement after the lease, so that it sees the previous attempt's result. */
export async function nextDelivery(query: Query, webhookId: number): Promise<DueDelivery | undefined> {
  const rows = await query<DueDelivery>(
    `SELECT delivery_id, webhook_id, message_id, payload FROM webhook_deliveries
     WHERE webhook_id = :webhookId AND status = 'pending' AND next_attempt_at <= clock_timestamp()
     ORDER BY next_attempt_at, delivery_id LIMIT 1`,
    { webhookId },
  );
  return rows[0];
}

export async function releaseWebhook(query: Query, webhookId: number): Promise<void> {
  await query('UPDATE webhooks SET leased_until = clock_timestamp() WHERE webhook_id = :webhookId', {
    webhookId,
  });
}

export async function observeDeliveries(query: Query, gauges: BacklogGauges): Promise<void> {
  const rows = await query<{ pending: number; oldest_age_sec: number }>(
    `SELECT count(*) AS pending,
            CAST(coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(next_attempt_at))), 0) AS float8)
              AS oldest_age_sec
     FROM webhook_deliveries WHERE status = 'pending'`,
  );
  const { pending, oldest_age_sec } = singleRow(rows);
  gauges.pending.set(pending);
  gauges.oldestAge.set(oldest_age_sec);
}
