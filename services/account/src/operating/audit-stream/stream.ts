import type { Logger } from '@tollgate/log';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import { startWorkLoop } from '../../platform/background/work-loop.ts';
import type { DueWatch } from '../../platform/background/due-watch.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { observeBacklog } from '../../platform/outbox/backlog.ts';
import type { OutboxMetrics } from '../../platform/outbox/metrics.ts';
import { isAttemptToLog } from '../../platform/outbox/outbox-worker.ts';
import { COLUMNS } from '../audit-entries.ts';
import type { Logged } from '../audit-entries.ts';
import type { AuditSink } from './sink.ts';

export type AuditStreamOptions = {
  query: Query;
  transact: Transact;
  sink: AuditSink;
  attemptTimeoutMs: number;
  dueWatch: DueWatch;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: OutboxMetrics;
};

/** Bounds a message, and what a process holds. */
const MAX_ENTRIES = 100;
const MAX_BYTES = 1_048_576;

const FIRST_RETRY_SEC = 1;
const MAX_RETRY_SEC = 60;

/** A lease must outlast the attempt and the statements around it. */
const LEASE_MARGIN_MS = 5_000;

/** Far below the day after which a sink that no process has any more is forgotten (lifecycle/housekeeping). */
const SEEN_STEP_SEC = 60;

const MAY_TRY = 'leased_until <= now() AND next_attempt_at <= now()';

/** A process that was held up doesn't end the lease of the next one. */
const IS_OURS = 'leased_until = CAST(:until AS timestamptz)';

/**
 * Whatever is older has ended: nothing with an id that is lower can come later, unless it happened at the same time. An
 * id of transactions above those of now is from before a restore.
 */
const IS_SETTLED = `(transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  OR transaction_id > pg_snapshot_xmax(pg_current_snapshot()))`;

/**
 * Sends the entries of the audit log to the sink, in order and at least once. One process of all has the lease and
 * sends one message at a time; entries leave the outbox once the sink has taken them, so a process that dies loses
 * none.
 */
export function startAuditStream(options: AuditStreamOptions): BackgroundLoop {
  const { query, logger, dueWatch, metrics, sink } = options;
  const loop = startWorkLoop({
    work: async (signal) => {
      await noteSink(query);
      while (!signal.aborted && (await sendNext(options, signal)));
      await observeBacklog(query, 'audit_stream_outbox', metrics);
    },
    messages: {
      failed: 'the audit stream cannot reach Postgres; retrying',
      recovered: 'the audit stream is being sent again',
    },
    due: {
      dueWatch,
      condition: `EXISTS (SELECT FROM audit_stream_outbox) AND EXISTS (SELECT FROM audit_stream WHERE ${MAY_TRY})`,
    },
    // Without its sink, nothing is kept for it.
    worksAtStart: true,
    logger,
  });
  return {
    ...loop,
    close: async () => {
      await loop.close();
      await sink.close();
    },
  };
}

/** From then on entries are kept for it. */
async function noteSink(query: Query): Promise<void> {
  await query(
    `INSERT INTO audit_stream DEFAULT VALUES ON CONFLICT (is_only) DO UPDATE SET seen_at = now()
     WHERE audit_stream.seen_at < now() - ${String(SEEN_STEP_SEC)} * interval '1 second'`,
  );
}

/** Whether there may be more to send at once. */
async function sendNext(options: AuditStreamOptions, signal: AbortSignal): Promise<boolean> {
  const { query, transact, sink, attemptTimeoutMs, logger, metrics } = options;
  const leased = await query<{ failures: number; until: string }>(
    `UPDATE audit_stream SET leased_until = now() + :leaseMs * interval '1 millisecond'
     WHERE ${MAY_TRY} AND EXISTS (SELECT FROM audit_stream_outbox) RETURNING failures, CAST(leased_until AS text) AS until`,
    { leaseMs: attemptTimeoutMs + LEASE_MARGIN_MS },
  );
  const [lease] = leased;
  if (lease === undefined) return false;
  const found = await query<Logged>(
    `SELECT ${COLUMNS} FROM audit_stream_outbox JOIN audit_log USING (audit_id) WHERE ${IS_SETTLED}
     ORDER BY audit_id LIMIT ${String(MAX_ENTRIES)}`,
  );
  const entries = withinBytes(found);
  if (entries.length === 0) {
    await query(`UPDATE audit_stream SET leased_until = '-infinity' WHERE ${IS_OURS}`, lease);
    return false;
  }
  const fault = await sink.deliver(entries, signal);
  if (fault === null) {
    await transact(async (inside) => {
      await inside('DELETE FROM audit_stream_outbox WHERE audit_id = ANY(:ids)', {
        ids: entries.map(({ audit_id }) => audit_id),
      });
      await inside(
        `UPDATE audit_stream SET leased_until = '-infinity', failures = 0 WHERE ${IS_OURS}`,
        lease,
      );
    });
    metrics.deliveries.inc({ outcome: 'delivered' });
    return true;
  }
  const failures = lease.failures + 1;
  metrics.deliveries.inc({ outcome: 'failed' });
  if (isAttemptToLog(failures)) {
    logger.warn(
      { reason: fault, failures, audit_id: entries[0]?.audit_id },
      'audit entries not sent; will retry',
    );
  }
  const retrySec = Math.min(FIRST_RETRY_SEC * 2 ** Math.min(lease.failures, 10), MAX_RETRY_SEC);
  await query(
    `UPDATE audit_stream SET leased_until = '-infinity', failures = :failures,
       next_attempt_at = now() + :retrySec * interval '1 second' WHERE ${IS_OURS}`,
    { ...lease, failures, retrySec },
  );
  return false;
}

/** At least one. */
function withinBytes(entries: readonly Logged[]): Logged[] {
  let bytes = 0;
  const end = entries.findIndex((entry, index) => {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    return index > 0 && bytes > MAX_BYTES;
  });
  return entries.slice(0, end === -1 ? undefined : end);
}

export const AUDIT_STREAM_METRICS = {
  name: 'tollgate_audit_stream',
  pending: 'Entries of the audit log that the sink has not taken yet',
  deliveries:
    'Messages to the sink of the audit log attempted by this process, by outcome: delivered or failed',
};
