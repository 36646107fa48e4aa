/** What is counted, as the tables hold it. */
export type Counters = { points: number; requests: number; time_ms: number; traffic_bytes: number };

/** The same as `GET /api/usage` names it. */
export type ReportedUsage = {
  points_usage: number;
  requests_usage: number;
  time_sec_usage: number;
  traffic_bytes_usage: number;
};

/** Sums of hourly rows. Postgres' own sum of a bigint is a numeric. */
export const SUM_COLUMNS = `CAST(sum(points) AS bigint) AS points, CAST(sum(requests) AS bigint) AS requests,
  CAST(sum(time_ms) AS bigint) AS time_ms, CAST(sum(traffic_bytes) AS bigint) AS traffic_bytes`;

/** The sum of some rows. Seconds are rounded down once, in the end. */
export function sumUsage(rows: readonly Counters[]): ReportedUsage {
  const sum = (field: keyof Counters) => rows.reduce((total, row) => total + row[field], 0);
  return {
    points_usage: sum('points'),
    requests_usage: sum('requests'),
    time_sec_usage: Math.floor(sum('time_ms') / 1_000),
    traffic_bytes_usage: sum('traffic_bytes'),
  };
}
