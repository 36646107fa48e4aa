import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { UsageSnapshot } from '@tollgate/contracts/usage-stream';
import { totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';

const STREAMS = Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) => usageStreamKey(shard));

/** One statement: between two, the usage reader could commit, and that usage would count twice. */
const SNAPSHOT_SQL = `
  SELECT period.period_id, period.account_id AS payer_id,
         ${totalColumns('total')},
         coalesce(reached.position, '0-0') AS stream_position,
         coalesce(total.usage_version, 0) AS usage_version
  FROM billing_periods AS period
  LEFT JOIN usage_totals AS total USING (period_id)
  LEFT JOIN usage_stream_positions AS reached
    ON reached.stream = (CAST(:streams AS text[]))[period.account_id % :shard_count + 1]
  WHERE period.period_id = :period_id`;

export async function findUsageSnapshot(query: Query, periodId: number): Promise<UsageSnapshot | undefined> {
  const [snapshot] = await query<UsageSnapshot>(
    SNAPSHOT_SQL,
    { period_id: periodId, streams: STREAMS, shard_count: USAGE_SHARD_COUNT },
    'usage_snapshot',
  );
  return snapshot;
}
