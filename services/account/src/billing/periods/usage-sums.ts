import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';

export type Counters = { points: number; requests: number; time_ms: number; traffic_bytes: number };

export type ReportedUsage = {
  points_usage: number;
  requests_usage: number;
  time_sec_usage: number;
  traffic_bytes_usage: number;
};

/** Null is 0, and MAX_TOTAL the maximum: a row out of range must not fail a whole list. */
export function bounded(sql: string): string {
  return `least(coalesce(${sql}, 0), ${String(MAX_TOTAL)})`;
}

const COUNTERS = ['points', 'requests', 'time_ms', 'traffic_bytes'] as const;

/** Postgres' sum of bigint is numeric. */
export const SUM_COLUMNS = COUNTERS.map(
  (counter) => `CAST(${bounded(`sum(${counter})`)} AS bigint) AS ${counter}`,
).join(', ');

/** Selects the counters of a table or alias, 0 without a row. */
export function totalColumns(table: string, prefix = ''): string {
  return COUNTERS.map((counter) => `${bounded(`${table}.${counter}`)} AS ${prefix}${counter}`).join(', ');
}

export function fitsIn(total: Counters, more: Counters): boolean {
  return COUNTERS.every((counter) => total[counter] + more[counter] <= MAX_TOTAL);
}

/** Seconds are rounded down once, at the end. */
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
