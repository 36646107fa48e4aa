import { CUTS_COLUMN } from '../../billing/credits/cuts.ts';
import { totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import type { HourlyRow, TotalRow } from './aggregate.ts';
import type { StreamEntry } from '../stream/stream-entry.ts';
import type { Unassigned } from '../stream/read-entry.ts';

export type FoundPeriod = TotalRow & {
  payer_id: number;
  /** The payer's that are to be recorded before usage after them is counted. */
  cuts: Date[];
};

/** `countedUntil`: when the last entry that is to be counted was written; null for usage of no stream. */
export async function findPeriods(
  query: Query,
  ids: readonly number[],
  countedUntil: Date | null = null,
): Promise<ReadonlyMap<number, FoundPeriod>> {
  const rows = await query<FoundPeriod>(
    `SELECT period.period_id, period.account_id AS payer_id, ${totalColumns('total')}, ${CUTS_COLUMN}
     FROM billing_periods AS period LEFT JOIN usage_totals AS total USING (period_id)
     WHERE period.period_id = ANY (:ids::bigint[])`,
    { ids, countedUntil },
    'usage_periods',
  );
  return new Map(rows.map((row) => [row.period_id, row]));
}

/** Writes rows in the order of their keys, so that two writers cannot deadlock. */
export async function addToTotals(query: Query, rows: readonly TotalRow[]): Promise<void> {
  await query(
    `INSERT INTO usage_totals AS total (period_id, points, requests, time_ms, traffic_bytes)
     SELECT * FROM unnest(:period_id::bigint[], :points::bigint[], :requests::bigint[], :time_ms::bigint[],
                          :traffic_bytes::bigint[])
     ORDER BY 1
     ON CONFLICT (period_id) DO UPDATE SET
       points = total.points + excluded.points,
       requests = total.requests + excluded.requests,
       time_ms = total.time_ms + excluded.time_ms,
       traffic_bytes = total.traffic_bytes + excluded.traffic_bytes`,
    { period_id: rows.map(({ period_id }) => period_id), ...counterColumns(rows) },
    'usage_add_totals',
  );
}

/** Writes rows in the order of their keys. Their partitions must exist. */
export async function addToHourly(query: Query, rows: readonly HourlyRow[]): Promise<void> {
  await query(
    `INSERT INTO usage_hourly AS hourly
       (period_id, hour, account_id, application_id, api_version, points, requests, time_ms, traffic_bytes)
     SELECT * FROM unnest(:period_id::bigint[], :hour::timestamptz[], :account_id::bigint[],
                          :application_id::bigint[], :api_version::text[], :points::bigint[],
                          :requests::bigint[], :time_ms::bigint[], :traffic_bytes::bigint[])
     ORDER BY 1, 2, 3, 4, 5
     ON CONFLICT (period_id, hour, account_id, application_id, api_version) DO UPDATE SET
       points = hourly.points + excluded.points,
       requests = hourly.requests + excluded.requests,
       time_ms = hourly.time_ms + excluded.time_ms,
       traffic_bytes = hourly.traffic_bytes + excluded.traffic_bytes`,
    {
      period_id: rows.map(({ period_id }) => period_id),
      hour: rows.map(({ hour_ms }) => new Date(hour_ms).toISOString()),
      account_id: rows.map(({ account_id }) => account_id),
      application_id: rows.map(({ application_id }) => application_id),
      api_version: rows.map(({ api_version }) => api_version),
      ...counterColumns(rows),
    },
    'usage_add_hourly',
  );
}

export async function insertUnassigned(
  query: Query,
  rows: readonly (Pick<StreamEntry, 'stream' | 'id'> & Unassigned)[],
): Promise<void> {
  await query(
    `INSERT INTO usage_unassigned (stream, entry_id, event_index, reason, raw)
     SELECT * FROM unnest(:stream::text[], :entry_id::text[], :event_index::integer[], :reason::text[],
                          :raw::text[])`,
    {
      stream: rows.map(({ stream }) => stream),
      entry_id: rows.map(({ id }) => id),
      event_index: rows.map(({ event_index }) => event_index),
      reason: rows.map(({ reason }) => reason),
      raw: rows.map(({ raw }) => raw),
    },
  );
}

function counterColumns(rows: readonly Omit<TotalRow, 'period_id'>[]) {
  return {
    points: rows.map(({ points }) => points),
    requests: rows.map(({ requests }) => requests),
    time_ms: rows.map(({ time_ms }) => time_ms),
    traffic_bytes: rows.map(({ traffic_bytes }) => traffic_bytes),
  };
}
