import type { Query } from '../../platform/database/query.ts';

export type Counters = { points: number; requests: number; time_ms: number; traffic_bytes: number };

/** `added` is null if the live counters must be rebuilt. */
export type Refresh = { period_id: number; payer_id: number; added: Counters | null };

/**
 * Raises the version of periods' totals and queues a message to Redis. `query` is the transaction that has changed,
 * and so locked, the totals; `refreshes` has each period once.
 *
 * A version is greater than the one before and usually the time in milliseconds, so that after a lost row or a
 * rollback it is still above what Redis has seen.
 */
export async function enqueueRefreshes(query: Query, refreshes: readonly Refresh[]): Promise<void> {
  const column = (field: keyof Counters) => refreshes.map(({ added }) => added?.[field] ?? null);
  await query(
    `WITH changed AS (
       SELECT * FROM unnest(CAST(:period_ids AS bigint[]), CAST(:payer_ids AS bigint[]),
         CAST(:points AS bigint[]), CAST(:requests AS bigint[]), CAST(:time_ms AS bigint[]),
         CAST(:traffic_bytes AS bigint[]))
         AS changed (period_id, payer_id, points, requests, time_ms, traffic_bytes)
     ), before AS (
       SELECT period_id, usage_version AS previous_version FROM usage_totals JOIN changed USING (period_id)
     ), versions AS (
       UPDATE usage_totals AS total
       SET usage_version = greatest(
         before.previous_version + 1, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint))
       FROM before WHERE total.period_id = before.period_id
       RETURNING total.period_id, before.previous_version, total.usage_version
     )
     INSERT INTO usage_refresh_outbox
       (period_id, payer_id, previous_version, usage_version, points, requests, time_ms, traffic_bytes)
     SELECT period_id, payer_id, previous_version, usage_version, points, requests, time_ms, traffic_bytes
     FROM versions JOIN changed USING (period_id)`,
    {
      period_ids: refreshes.map(({ period_id }) => period_id),
      payer_ids: refreshes.map(({ payer_id }) => payer_id),
      points: column('points'),
      requests: column('requests'),
      time_ms: column('time_ms'),
      traffic_bytes: column('traffic_bytes'),
    },
  );
}

export type PendingRefresh = {
  period_id: number;
  payer_id: number;
  previous_version: number;
  usage_version: number;
} & { [Field in keyof Counters]: number | null };

/** The rows are deleted when the transaction commits. Any number of replicas may take rows at once. */
export async function takeRefreshes(query: Query, limit: number): Promise<PendingRefresh[]> {
  return query<PendingRefresh>(
    `WITH taken AS (
       DELETE FROM usage_refresh_outbox WHERE outbox_id IN (
         SELECT outbox_id FROM usage_refresh_outbox ORDER BY outbox_id LIMIT :limit FOR UPDATE SKIP LOCKED
       ) RETURNING *
     )
     SELECT period_id, payer_id, previous_version, usage_version, points, requests, time_ms, traffic_bytes
     FROM taken ORDER BY outbox_id`,
    { limit },
  );
}
