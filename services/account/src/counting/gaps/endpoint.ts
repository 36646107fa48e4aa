import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Query } from '../../platform/database/query.ts';
import { cutPage, lookAhead, pageFields, queryOf } from '../../http/input/page.ts';

const CAUSES = ['batches_missing', 'redis_set_back', 'postgres_set_back'] as const;

const listSchema = z.strictObject({
  ...pageFields,
  stream: z.string('must be text').min(1, 'must not be empty').max(40, 'is too long').optional(),
  cause: z.enum(CAUSES, `must be one of ${CAUSES.join(', ')}`).optional(),
});

type Gap = { gap_id: number } & Readonly<Record<string, unknown>>;

/**
 * `GET /private/usage-gaps?stream=&cause=&limit=50&cursor=…` for operators: 200 `{gaps, next_cursor}`, newest first
 * (ADR 0041). A gap is `gap_id, seen_at, cause, stream, gateway_id, first_batch, last_batch, batches, requests,
 * points, after_entry, last_entry, recovered, within_gap_id`; what is unknown or does not apply is null. `recovered`
 * is `{points, requests, time_ms, traffic_bytes}`.
 */
export function usageGapsEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const { stream, cause, ...page } = queryOf(req, listSchema);
    const found = await query<Gap>(
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
      { stream: stream ?? null, cause: cause ?? null, ...lookAhead(page) },
    );
    const { rows, next_cursor } = cutPage(found, page, ({ gap_id }) => gap_id);
    res.json({ gaps: rows, next_cursor });
  };
}

/** Gaps found in the last 30 days. */
export async function countRecentGaps(query: Query): Promise<number> {
  const rows = await query<{ gaps: number }>(
    "SELECT count(*) AS gaps FROM usage_gaps WHERE seen_at > now() - interval '30 days'",
  );
  return rows[0]?.gaps ?? 0;
}
