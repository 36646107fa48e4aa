import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Reconciliation } from './reconcile.ts';

/** Not if it leaves a gap after the last run: the next one by itself is to close that. */
export async function insertRun(
  query: Query,
  { since, started_at, checked, differences }: Reconciliation,
): Promise<void> {
  await query(
    `INSERT INTO payment_reconciliations (since, started_at, checked, differences)
     SELECT CAST(:since AS timestamptz), CAST(:started_at AS timestamptz), CAST(:checked AS integer),
       CAST(:differences AS integer)
     WHERE CAST(:since AS timestamptz) <=
       (SELECT coalesce(max(started_at), CAST(:started_at AS timestamptz) - interval '72 hours')
        FROM payment_reconciliations)`,
    { since, started_at, checked, differences: differences.length },
  );
}

/** What Stripe has is here again since the time of the backup: money may move. */
export async function endRestore(query: Query): Promise<void> {
  await query('DELETE FROM payment_restores');
}

/** When a restore of Postgres was found that payments aren't reconciled after; undefined if there is none. */
export async function findRestore(query: Query): Promise<Date | undefined> {
  const rows = await query<{ found_at: Date }>('SELECT found_at FROM payment_restores');
  return rows[0]?.found_at;
}

/** Undefined before the first run. */
export async function findLastStart(query: Query): Promise<Date | undefined> {
  const rows = await query<{ started_at: Date | null }>(
    'SELECT max(started_at) AS started_at FROM payment_reconciliations',
  );
  return rows[0]?.started_at ?? undefined;
}

export type LastRun = { started_at: Date | null; differences: number; foreign_events: number };

export async function findLastRun(query: Query): Promise<LastRun> {
  const rows = await query<LastRun>(
    `SELECT last.started_at, coalesce(last.differences, 0) AS differences, foreign_events
     FROM (SELECT count(*)::int AS foreign_events FROM payment_events WHERE outcome = 'foreign') AS ignored
       LEFT JOIN LATERAL (
         SELECT started_at, differences FROM payment_reconciliations ORDER BY started_at DESC LIMIT 1
       ) AS last ON true`,
  );
  return singleRow(rows);
}

export type Waiting = { oldest_event_sec: number; open_issues: number };

export async function findWaiting(query: Query): Promise<Waiting> {
  const rows = await query<Waiting>(
    `SELECT (SELECT CAST(coalesce(max(extract(epoch FROM clock_timestamp() - created_at)), 0) AS float8)
             FROM payment_events WHERE next_attempt_at IS NOT NULL) AS oldest_event_sec,
       (SELECT count(*)::int FROM payment_issues WHERE resolved_at IS NULL) AS open_issues`,
  );
  return singleRow(rows);
}
