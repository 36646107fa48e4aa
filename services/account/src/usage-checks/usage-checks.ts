import { USAGE_SHARD_COUNT, usageShard, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/problem';
import { recordAudit } from '../audit/audit-log.ts';
import type { Actor } from '../audit/audit-log.ts';
import { onlyRow } from '../database/only-row.ts';
import type { Query } from '../database/query.ts';
import type { Page } from '../input/page.ts';

/** The totals of billing periods beside the sums of their hourly rows: what must be equal, and how it is mended. */

type Counters = { points: number; requests: number; time_ms: number; traffic_bytes: number };

export type Checked = { period_id: number; totals: Counters; hourly: Counters };

const STREAMS = Array.from({ length: USAGE_SHARD_COUNT }, (_, shard) => usageStreamKey(shard));

const FIELDS = ['points', 'requests', 'time_ms', 'traffic_bytes'] as const;

const columns = (table: string, prefix: string) =>
  FIELDS.map((field) => `coalesce(${table}.${field}, 0) AS ${prefix}_${field}`).join(', ');

/**
 * One statement sees one moment, in which the usage reader has counted an event in both or in neither. Periods
 * without any usage have rows in neither.
 */
const CHECK_SQL = `
  SELECT period.period_id, ${columns('total', 'totals')}, ${columns('hourly', 'hourly')}
  FROM (SELECT period_id FROM billing_periods WHERE CONDITION ORDER BY period_id DESC LIMIT :limit) AS period
  LEFT JOIN usage_totals AS total USING (period_id)
  LEFT JOIN LATERAL (
    SELECT ${FIELDS.map((field) => `CAST(sum(${field}) AS bigint) AS ${field}`).join(', ')}
    FROM usage_hourly WHERE usage_hourly.period_id = period.period_id
  ) AS hourly ON true
  ORDER BY period.period_id DESC`;

/** The newest periods before an id. */
export async function checkPeriods(query: Query, { limit, before }: Page): Promise<Checked[]> {
  const sql = CHECK_SQL.replace('CONDITION', 'period_id < :before');
  return (await query<CheckedRow>(sql, { limit, before })).map(checkedOf);
}

/** @throws {Problem} not_found */
export async function checkPeriod(query: Query, periodId: number): Promise<Checked> {
  const sql = CHECK_SQL.replace('CONDITION', 'period_id = :periodId');
  const [row] = await query<CheckedRow>(sql, { limit: 1, periodId });
  if (row === undefined) throw new Problem('not_found');
  return checkedOf(row);
}

export function isEqual({ totals, hourly }: Checked): boolean {
  return FIELDS.every((field) => totals[field] === hourly[field]);
}

/**
 * Sets a period's totals to the sums of its hourly rows. It holds the position of the payer's stream, as the usage
 * reader does: what the reader counts comes before or after, and totals and position go on belonging together.
 * `query` is the transaction's.
 *
 * @throws {Problem} not_found
 */
export async function rebuildTotals(query: Query, periodId: number, by: Actor): Promise<Checked> {
  const owners = await query<{ account_id: number }>(
    'SELECT account_id FROM billing_periods WHERE period_id = :periodId',
    { periodId },
  );
  const account_id = owners[0]?.account_id;
  if (account_id === undefined) throw new Problem('not_found');
  const stream = STREAMS[usageShard(account_id)];
  // A stream that nobody has read yet has no row, and no reader to be kept away.
  await query('SELECT 1 FROM usage_stream_positions WHERE stream = :stream FOR UPDATE', { stream });
  const found = await checkPeriod(query, periodId);
  if (!isEqual(found)) await storeTotals(query, periodId, found.hourly);
  const { totals: totals_before, hourly: totals } = found;
  const entry = { ...by, application_id: null, account_id, action: 'usage_rebuilt' as const };
  await recordAudit(query, { ...entry, details: { period_id: periodId, totals_before, totals } });
  return found;
}

async function storeTotals(query: Query, periodId: number, totals: Counters): Promise<void> {
  onlyRow(
    await query(
      `INSERT INTO usage_totals (period_id, points, requests, time_ms, traffic_bytes)
       VALUES (:periodId, :points, :requests, :time_ms, :traffic_bytes)
       ON CONFLICT (period_id) DO UPDATE SET points = excluded.points, requests = excluded.requests,
         time_ms = excluded.time_ms, traffic_bytes = excluded.traffic_bytes
       RETURNING 1`,
      { periodId, ...totals },
    ),
  );
}

type CheckedRow = { period_id: number } & Record<`${'totals' | 'hourly'}_${keyof Counters}`, number>;

function checkedOf(row: CheckedRow): Checked {
  const part = (prefix: 'totals' | 'hourly'): Counters => ({
    points: row[`${prefix}_points`],
    requests: row[`${prefix}_requests`],
    time_ms: row[`${prefix}_time_ms`],
    traffic_bytes: row[`${prefix}_traffic_bytes`],
  });
  return { period_id: row.period_id, totals: part('totals'), hourly: part('hourly') };
}
