import type { UsageCounters } from '@tollgate/contracts/usage-stream';
import type { Query } from '../../platform/database/query.ts';

/** Batches of a gateway process that never arrived, as the next batch states (docs/design/counting.md). */
export type MissingBatches = {
  stream: string;
  gateway_id: string;
  first_batch: number;
  last_batch: number;
  batches: number;
  requests: number;
  points: number;
};

/**
 * `redis_set_back`: Redis has lost the uncounted entries after an entry. `postgres_set_back`: Postgres has lost what
 * was counted between two entries.
 */
export type Rollback = { stream: string; after_entry: string } & (
  { cause: 'redis_set_back' } | { cause: 'postgres_set_back'; last_entry: string; recovered: UsageCounters }
);

/** Must run before storeSequences: a rollback of the stream since the process was last counted explains the gap. */
export async function insertMissingBatches(query: Query, missing: readonly MissingBatches[]): Promise<void> {
  await query(
    `INSERT INTO usage_gaps
       (stream, cause, gateway_id, first_batch, last_batch, batches, requests, points, within_gap_id)
     SELECT stream, 'batches_missing', gateway_id, first_batch, last_batch, missing.batches, missing.requests,
            missing.points,
            (SELECT max(gap_id) FROM usage_gaps AS whole
             WHERE whole.stream = missing.stream AND whole.cause <> 'batches_missing'
               AND whole.seen_at > coalesce(known.counted_at, now() - interval '14 days'))
     FROM unnest(:stream::text[], :gateway_id::text[], :first_batch::bigint[], :last_batch::bigint[],
                 :batches::bigint[], :requests::bigint[], :points::bigint[])
       AS missing (stream, gateway_id, first_batch, last_batch, batches, requests, points)
     LEFT JOIN usage_gateway_sequences AS known USING (stream, gateway_id)
     ORDER BY stream, gateway_id, first_batch`,
    {
      stream: missing.map(({ stream }) => stream),
      gateway_id: missing.map(({ gateway_id }) => gateway_id),
      first_batch: missing.map(({ first_batch }) => first_batch),
      last_batch: missing.map(({ last_batch }) => last_batch),
      batches: missing.map(({ batches }) => batches),
      requests: missing.map(({ requests }) => requests),
      points: missing.map(({ points }) => points),
    },
  );
}

/** Nothing is settled until forgetRestores. */
export async function insertRestore(query: Query, stream: string): Promise<void> {
  await query('INSERT INTO usage_restores (stream) VALUES (:stream) ON CONFLICT DO NOTHING', { stream });
}

/** After the repair that follows a restore of Postgres. */
export async function forgetRestores(query: Query): Promise<void> {
  await query('DELETE FROM usage_restores');
}

export async function insertRollback(query: Query, gap: Rollback): Promise<void> {
  const { stream, cause, after_entry } = gap;
  const known =
    gap.cause === 'redis_set_back'
      ? { last_entry: null, points: null, requests: null, time_ms: null, traffic_bytes: null }
      : { last_entry: gap.last_entry, ...gap.recovered };
  await query(
    `INSERT INTO usage_gaps (stream, cause, after_entry, last_entry, recovered_points, recovered_requests,
       recovered_time_ms, recovered_traffic_bytes)
     VALUES (:stream, :cause, :after_entry, :last_entry, :points, :requests, :time_ms, :traffic_bytes)`,
    { stream, cause, after_entry, ...known },
  );
}
