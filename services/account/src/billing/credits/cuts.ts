import type { Query } from '../../platform/database/query.ts';

/** An instant at which an account's usable credits change (docs/design/credits.md). */
export type Cut = { account_id: number; at: Date };

/** What a period's points grow by, with the entry of the usage stream that says so: its time is Redis'. */
export type CountedPoints = { period_id: number; payer_id: number; points: number; entryMs: number };

/** The cuts up to an instant that aren't recorded, of the account that pays for a period; an index probe if none. */
export const CUTS_COLUMN = `ARRAY(
  SELECT at FROM credit_cuts AS cut
  WHERE cut.account_id = period.account_id AND resolved_at IS NULL AND at <= CAST(:countedUntil AS timestamptz)
    AND NOT EXISTS (SELECT FROM credit_cut_points AS recorded
      WHERE recorded.account_id = cut.account_id AND recorded.at = cut.at)) AS cuts`;

type OpenPeriod = { account_id: number; period_id: number; points: number };

/**
 * Records what periods had used at cuts that the usage now to be counted passes. Call it before the usage is added to
 * totals, with the streams' positions locked: what was counted before has earlier entries.
 */
export async function recordPassedCuts(
  query: Query,
  cuts: readonly Cut[],
  counted: readonly CountedPoints[],
): Promise<void> {
  const passed = cuts.filter(({ account_id, at }) =>
    counted.some(({ payer_id, entryMs }) => payer_id === account_id && entryMs >= at.getTime()),
  );
  if (passed.length === 0) return;
  const open = await query<OpenPeriod>(
    `SELECT account_id, period_id, coalesce(points, 0) AS points
     FROM period_closings LEFT JOIN usage_totals USING (period_id)
     WHERE account_id = ANY (CAST(:account_ids AS bigint[]))`,
    { account_ids: passed.map(({ account_id }) => account_id) },
  );
  const rows = passed.flatMap(({ account_id, at }) =>
    open
      .filter((period) => period.account_id === account_id)
      .map(({ period_id, points }) => ({
        account_id,
        at,
        period_id,
        points: points + pointsBefore(counted, period_id, at),
      })),
  );
  await query(
    `INSERT INTO credit_cut_points (account_id, at, period_id, points)
     SELECT * FROM unnest(CAST(:account_ids AS bigint[]), CAST(:ats AS timestamptz[]), CAST(:period_ids AS bigint[]),
       CAST(:points AS bigint[]))
     ORDER BY 1, 2, 3
     ON CONFLICT DO NOTHING`,
    {
      account_ids: rows.map(({ account_id }) => account_id),
      ats: rows.map(({ at }) => at.toISOString()),
      period_ids: rows.map(({ period_id }) => period_id),
      points: rows.map(({ points }) => points),
    },
  );
}

function pointsBefore(counted: readonly CountedPoints[], periodId: number, at: Date): number {
  return counted
    .filter(({ period_id, entryMs }) => period_id === periodId && entryMs < at.getTime())
    .reduce((sum, { points }) => sum + points, 0);
}
