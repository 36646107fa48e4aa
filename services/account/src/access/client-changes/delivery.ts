import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { Observe } from '@tollgate/server/tallies';
import type { Query } from '../../platform/database/query.ts';
import { postpone, removeRow } from '../../platform/outbox/leased-rows.ts';
import type { OutboxMetrics } from '../../platform/outbox/metrics.ts';
import type { Attempt } from '../../platform/outbox/outbox-worker.ts';
import { repeated } from '../../platform/outbox/repeated.ts';
import type { RetryWaits } from '../../platform/outbox/repeated.ts';
import { CLIENT_CHANGE_OUTBOX, changeOf } from './store.ts';
import type { PendingClientChange } from './store.ts';

/** auth, back from an outage, must learn of a revocation within a second (service specification, "Token"). */
const RETRY_WAITS: RetryWaits = { first: 50, max: 1_000 };

export type DeliveryOptions = {
  query: Query;
  auth: Pick<PrivateApi, 'postJson'>;
  logger: Pick<Logger, 'warn'>;
  metrics: Pick<OutboxMetrics, 'deliveries'>;
  observeLag: Observe;
};

/** Delivers one row to auth and records the outcome. */
export function deliveryAttempt({
  query,
  auth,
  logger,
  metrics,
  observeLag,
}: DeliveryOptions): (row: PendingClientChange) => Promise<Attempt> {
  return repeated({
    work: async (row) => {
      await auth.postJson('/private/client-changes', changeOf(row));
      metrics.deliveries.inc({ outcome: 'delivered' });
      const ageSec = await removeRow(query, CLIENT_CHANGE_OUTBOX, row.outbox_id);
      if (ageSec !== undefined) observeLag(ageSec);
    },
    waits: RETRY_WAITS,
    postpone: ({ outbox_id }, ms) => postpone(query, CLIENT_CHANGE_OUTBOX, outbox_id, ms),
    onFailed: () => {
      metrics.deliveries.inc({ outcome: 'failed' });
    },
    message: 'auth has not acknowledged an application change; retrying',
    describe: ({ client_id }, error) => ({
      err: error instanceof Error && error.cause instanceof Error ? error.cause : error,
      client_id,
    }),
    logger,
  });
}
