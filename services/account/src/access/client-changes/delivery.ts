import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { Observe } from '@tollgate/server/tallies';
import type { Query } from '../../platform/database/query.ts';
import { backoffMs } from './backoff.ts';
import type { OutboxMetrics } from '../../platform/outbox/metrics.ts';
import { postpone, removeRow } from '../../platform/outbox/leased-rows.ts';
import { CLIENT_CHANGE_OUTBOX, changeOf } from './store.ts';
import type { PendingClientChange } from './store.ts';
import { isAttemptToLog } from '../../platform/outbox/outbox-worker.ts';
import type { Attempt } from '../../platform/outbox/outbox-worker.ts';

export type DeliveryOptions = {
  query: Query;
  auth: Pick<PrivateApi, 'postJson'>;
  logger: Pick<Logger, 'warn'>;
  metrics: Pick<OutboxMetrics, 'deliveries'>;
  observeLag: Observe;
};

/** Delivers one row to auth and records the outcome. Never throws. */
export async function attemptDelivery(
  { query, auth, logger, metrics, observeLag }: DeliveryOptions,
  row: PendingClientChange,
): Promise<Attempt> {
  const { outbox_id, client_id } = row;
  try {
    await auth.postJson('/private/client-changes', changeOf(row));
  } catch (error) {
    metrics.deliveries.inc({ outcome: 'failed' });
    const attempts = row.attempts + 1;
    if (isAttemptToLog(attempts)) {
      const err = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      logger.warn({ err, client_id, attempts }, 'auth has not acknowledged an application change; retrying');
    }
    const retryInMs = backoffMs(attempts);
    await postpone(query, CLIENT_CHANGE_OUTBOX, outbox_id, retryInMs);
    return { delivered: false, retryInMs };
  }
  metrics.deliveries.inc({ outcome: 'delivered' });
  const ageSec = await removeRow(query, CLIENT_CHANGE_OUTBOX, outbox_id);
  if (ageSec !== undefined) observeLag(ageSec);
  return { delivered: true };
}
