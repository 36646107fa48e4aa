import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { Spent, UsageSnapshot } from '@tollgate/contracts/usage-stream';
import { OF_APPLICATION, OF_MEMBER, spentSql } from '../../billing/budgets/spent.ts';
import { totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';

const STREAMS = Array.from({ length: USAGE_SHARD_COUNT }, (_, lane) => usageStreamKey(lane));

/**
 * One statement: between two, the usage reader could commit, and that usage would count twice. A cut that the position
 * has passed and that isn't recorded has no usage after it: what is counted is what was used before.
 */
const SNAPSHOT_SQL = `
  SELECT period.period_id, period.account_id AS payer_id,
         CAST(period.account_id % lanes AS integer) AS usage_lane, lanes AS usage_lanes,
         coalesce(period.account_id % lanes <> period.account_id % lanes_before, false) AS is_moving,
         ${totalColumns('total')},
         coalesce(reached.position, '0-0') AS stream_position,
         coalesce(total.usage_version, 0) AS usage_version,
         (SELECT json_agg(json_build_object('at_ms', ms, 'points', points) ORDER BY ms) FROM (
           SELECT CAST(extract(epoch FROM cut.at) * 1000 AS bigint) AS ms,
                  coalesce(recorded.points, CASE WHEN known.yes THEN 0 ELSE total.points END, 0) AS points
           FROM credit_cuts AS cut
           LEFT JOIN credit_cut_points AS recorded
             ON recorded.account_id = cut.account_id AND recorded.at = cut.at AND recorded.period_id = period.period_id
           CROSS JOIN LATERAL (SELECT cut.resolved_at IS NOT NULL OR EXISTS (SELECT FROM credit_cut_points AS other
             WHERE other.account_id = cut.account_id AND other.at = cut.at) AS yes) AS known
           WHERE cut.account_id = period.account_id
             AND (cut.resolved_at IS NULL OR cut.resolved_at > now() - interval '1 hour')
         ) AS cut WHERE ms <= CAST(split_part(reached.position, '-', 1) AS numeric)) AS cuts,
         CASE WHEN CAST(:application_id AS bigint) IS NOT NULL
           THEN ${spentSql('period', OF_APPLICATION)} END AS application,
         CASE WHEN CAST(:account_id AS bigint) IS NOT NULL
           THEN ${spentSql('period', OF_MEMBER)} END AS member
  FROM billing_periods AS period CROSS JOIN usage_lanes
  LEFT JOIN usage_totals AS total USING (period_id)
  LEFT JOIN usage_stream_positions AS reached
    ON reached.stream = (CAST(:streams AS text[]))[period.account_id % lanes + 1]
  WHERE period.period_id = :period_id`;

export type Spenders = { application_id?: number | undefined; account_id?: number | undefined };

type Row = Omit<UsageSnapshot, 'cuts' | 'budgets'> & {
  is_moving: boolean;
  cuts: UsageSnapshot['cuts'] | null;
  application: Spent | null;
  member: Spent | null;
};

/**
 * Also what the spenders have spent, of the same moment. `moving`: the payer's usage may be in two streams
 * (docs/design/settlement.md#more-lanes).
 */
export async function findUsageSnapshot(
  query: Query,
  periodId: number,
  { application_id, account_id }: Spenders = {},
): Promise<UsageSnapshot | 'moving' | undefined> {
  const [found] = await query<Row>(
    SNAPSHOT_SQL,
    {
      period_id: periodId,
      streams: STREAMS,
      application_id: application_id ?? null,
      account_id: account_id ?? null,
    },
    'usage_snapshot',
  );
  if (found === undefined) return undefined;
  const { is_moving, ...snapshot } = found;
  if (is_moving) return 'moving';
  const { cuts, application, member, ...usage } = snapshot;
  const budgets = {
    ...(application === null ? {} : { application }),
    ...(member === null ? {} : { member }),
  };
  return {
    ...usage,
    ...(cuts === null || cuts === undefined ? {} : { cuts }),
    ...(application === null && member === null ? {} : { budgets }),
  };
}
