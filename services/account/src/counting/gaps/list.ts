import type { UsageCounters } from '@tollgate/contracts/usage-stream';
import type { Page } from '../../http/input/page.ts';
import type { Query } from '../../platform/database/query.ts';

export const GAP_CAUSES = ['batches_missing', 'redis_set_back', 'postgres_set_back'] as const;

/** What is unknown or does not apply is null (docs/design/counting.md). */
export type Gap = {
  gap_id: number;
  seen_at: Date;
  cause: (typeof GAP_CAUSES)[number];
  stream: string;
  gateway_id: string | null;
  first_batch: number | null;
  last_batch: number | null;
  batches: number | null;
  requests: number | null;
  points: number | null;
  after_entry: string | null;
  last_entry: string | null;
  recovered: UsageCounters | null;
  within_gap_id: number | null;
};

/** Newest first. */
export function listGaps(
  query: Query,
  { stream, cause }: { stream: string | undefined; cause: Gap['cause'] | undefined },
  page: Page,
): Promise<Gap[]> {
  return query<Gap>(
    `SELECT gap_id, seen_at, cause, stream, gateway_id, first_batch, last_batch, batches, requests, points,
            after_entry, last_entry,
            CASE WHEN recovered_points IS NOT NULL THEN json_build_object('points', recovered_points,
              'requests', recovered_requests, 'time_ms', recovered_time_ms,
              'traffic_bytes', recovered_traffic_bytes) END AS recovered,
            within_gap_id
     FROM usage_gaps
     WHERE gap_id < :before AND stream = coalesce(CAST(:stream AS text), stream)
       AND cause = coalesce(CAST(:cause AS text), cause)
     ORDER BY gap_id DESC LIMIT :limit`,
    { stream: stream ?? null, cause: cause ?? null, ...page },
  );
}

/** Gaps found in the last 30 days. */
export async function countRecentGaps(query: Query): Promise<number> {
  const rows = await query<{ gaps: number }>(
    "SELECT count(*) AS gaps FROM usage_gaps WHERE seen_at > now() - interval '30 days'",
  );
  return rows[0]?.gaps ?? 0;
}
