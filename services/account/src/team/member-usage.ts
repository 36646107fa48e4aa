import { pickPeriod } from '../billing/period-rules.ts';
import type { Standing } from '../billing/standing.ts';
import type { Query } from '../database/query.ts';

/** As `GET /api/usage` names what a whole period has. */
export type MemberUsage = {
  points_usage: number;
  requests_usage: number;
  time_sec_usage: number;
  traffic_bytes_usage: number;
};

type Row = { account_id: number; points: number; requests: number; time_ms: number; traffic_bytes: number };

/**
 * Who has used what of the payer's current period, by account; undefined where there is no period. The hourly
 * counters' primary key begins with the period. The lower bound leaves out older partitions, and is a day early for
 * gateways whose clocks are behind.
 */
export async function findMemberUsage(
  query: Query,
  { periods }: Pick<Standing, 'periods'>,
  now: Date,
): Promise<Row[] | undefined> {
  const period = pickPeriod(periods, now);
  if (period === undefined) return undefined;
  return query<Row>(
    `SELECT account_id, CAST(sum(points) AS bigint) AS points, CAST(sum(requests) AS bigint) AS requests,
            CAST(sum(time_ms) AS bigint) AS time_ms, CAST(sum(traffic_bytes) AS bigint) AS traffic_bytes
     FROM usage_hourly
     WHERE period_id = :period_id AND hour >= CAST(:started_at AS timestamptz) - interval '1 day'
     GROUP BY account_id`,
    { period_id: period.period_id, started_at: period.started_at },
  );
}

/** The sum of some accounts' usage. */
export function sumUsage(rows: readonly Row[]): MemberUsage {
  const sum = (field: Exclude<keyof Row, 'account_id'>) => rows.reduce((total, row) => total + row[field], 0);
  return {
    points_usage: sum('points'),
    requests_usage: sum('requests'),
    time_sec_usage: Math.floor(sum('time_ms') / 1_000),
    traffic_bytes_usage: sum('traffic_bytes'),
  };
}
