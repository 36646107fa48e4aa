import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { singleRow } from '../database/single-row.ts';
import type { Query } from '../database/query.ts';

export type BacklogTable =
  | 'audit_stream_outbox'
  | 'client_change_outbox'
  | 'entitlement_outbox'
  | 'mail_outbox'
  | 'usage_refresh_outbox'
  | 'usage_alert_checks';

export type BacklogGauges = { pending: Pick<Gauge, 'set'>; oldestAge: Pick<Gauge, 'set'> };

/** Gauges of a whole table, the same from every replica. */
export function createBacklogGauges(registry: Registry, prefix: string, rows: string): BacklogGauges {
  const registers = [registry];
  return {
    pending: new Gauge({ name: `${prefix}_pending`, help: rows, registers }),
    oldestAge: new Gauge({
      name: `${prefix}_oldest_age_seconds`,
      help: `Age of the oldest that ${prefix}_pending counts; 0 without any`,
      registers,
    }),
  };
}

export type Backlog = { pending: number; oldest_age_sec: number };

export async function backlogOf(query: Query, table: BacklogTable): Promise<Backlog> {
  const rows = await query<Backlog>(
    `SELECT count(*) AS pending,
            CAST(coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(created_at))), 0) AS float8)
              AS oldest_age_sec
     FROM ${table}`,
  );
  return singleRow(rows);
}

export async function observeBacklog(
  query: Query,
  table: BacklogTable,
  gauges: BacklogGauges,
): Promise<void> {
  const { pending, oldest_age_sec } = await backlogOf(query, table);
  gauges.pending.set(pending);
  gauges.oldestAge.set(oldest_age_sec);
}
