import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';

/** What is counted, as the tables hold it. */
export type Counters = { points: number; requests: number; time_ms: number; traffic_bytes: number };

/** The same as `GET /api/usage` names it. */
export type ReportedUsage = {
  points_usage: number;
  requests_usage: number;
  time_sec_usage: number;
  traffic_bytes_usage: number;
};

/** 0 for null, and no more than the greatest total: a row beyond it must not take the others of a list with it. */
export function bounded(sql: string): string {
  return `least(coalesce(${sql}, 0), ${String(MAX_TOTAL)})`;
}

const COUNTERS = ['points', 'requests', 'time_ms', 'traffic_bytes'] as const;

/** Sums of hourly rows. Postgres' own sum of a bigint is a numeric. */
export const SUM_COLUMNS = COUNTERS.map(
  (counter) => `CAST(${bounded(`sum(${counter})`)} AS bigint) AS ${counter}`,
).join(', ');

/** The counters of a row of totals, 0 where there is none; of a table or an alias of that name. */
export function totalColumns(table: string, prefix = ''): string {
  return COUNTERS.map((counter) => `${bounded(`${table}.${counter}`)} AS ${prefix}${counter}`).join(', ');
}

/** Whether a total takes more without getting greater than can be stated. */
export function fitsIn(total: Counters, more: Counters): boolean {
  return COUNTERS.every((counter) => total[counter] + more[counter] <= MAX_TOTAL);
}

/** The sum of some rows. Seconds are rounded down once, in the end. */
export function sumUsage(rows: readonly Counters[]): ReportedUsage {
  const sum = (field: keyof Counters) =>
    Math.min(
      rows.reduce((total, row) => total + row[field], 0),
      MAX_TOTAL,
    );
  return {
    points_usage: sum('points'),
    requests_usage: sum('requests'),
    time_sec_usage: Math.floor(sum('time_ms') / 1_000),
    traffic_bytes_usage: sum('traffic_bytes'),
  };
}
