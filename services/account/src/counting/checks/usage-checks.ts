import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { bounded, totalColumns } from '../../billing/periods/usage-sums.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';
import { enqueueRefreshes } from '../refresh/refresh-outbox.ts';
import type { Counters } from '../refresh/refresh-outbox.ts';
import { lockPayerPositions } from '../stream/positions.ts';

export type Checked = {
  period_id: number;
  totals: Counters;
  hourly: Counters;
  /** Some of its hourly rows were dropped: their sums are too low, the totals are right. */
  beyond_retention: boolean;
  /** A total or a sum is above MAX_TOTAL, and is given as MAX_TOTAL. */
  out_of_range: boolean;
};

const FIELDS = ['points', 'requests', 'time_ms', 'traffic_bytes'] as const;

const isOutOfRange = ['total', 'hourly']
  .flatMap((table) => FIELDS.map((field) => `coalesce(${table}.${field}, 0) > ${String(MAX_TOTAL)}`))
  .join(' OR ');

const hourlyColumns = FIELDS.map(
  (field) => `CAST(${bounded(`hourly.${field}`)} AS bigint) AS hourly_${field}`,
).join(', ');

/**
 * One statement, so that the usage reader has counted an event in both tables or in neither. Gateways' clocks may be
 * a day behind.
 */
const CHECK_SQL = `
  SELECT period.period_id, ${totalColumns('total', 'totals_')}, ${hourlyColumns},
         (${isOutOfRange}) AS out_of_range,
         period.started_at - interval '1 day' < kept.kept_from AS beyond_retention
  FROM usage_hourly_kept AS kept, (SELECT period_id, started_at FROM billing_periods WHERE CONDITION ORDER BY period_id DESC LIMIT :limit) AS period
  LEFT JOIN usage_totals AS total USING (period_id)
  LEFT JOIN LATERAL (
    SELECT ${FIELDS.map((field) => `sum(${field}) AS ${field}`).join(', ')}
    FROM usage_hourly WHERE usage_hourly.period_id = period.period_id
  ) AS hourly ON true
  ORDER BY period.period_id DESC`;

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
 * Sets a period's totals to the sums of its hourly rows and rebuilds the live counters. Locks, in this order: the
 * position of the payer's stream, which keeps the usage reader away; the months, which must not be dropped; the
 * totals.
 * @throws {Problem} not_found, usage_rows_dropped
 */
export async function rebuildTotals(query: Query, periodId: number, by: Actor): Promise<Checked> {
  const owners = await query<{ account_id: number }>(
    'SELECT account_id FROM billing_periods WHERE period_id = :periodId',
    { periodId },
  );
  const account_id = owners[0]?.account_id;
  if (account_id === undefined) throw new Problem('not_found');
  await lockPayerPositions(query, account_id);
  await query('SELECT 1 FROM usage_hourly_kept FOR SHARE');
  await lockTotals(query, periodId);
  const found = await checkPeriod(query, periodId);
  if (found.beyond_retention) throw new Problem('usage_rows_dropped');
  if (!isEqual(found) || found.out_of_range) await storeTotals(query, periodId, found.hourly);
  await enqueueRefreshes(query, [{ period_id: periodId, payer_id: account_id, added: null }]);
  const { totals: totals_before, hourly: totals } = found;
  const entry = { ...by, application_id: null, account_id, action: 'usage_rebuilt' as const };
  const details = { period_id: periodId, totals_before, totals };
  const change = changeOf(['usage'], { usage: totals_before }, { usage: totals });
  await recordAudit(query, { ...entry, details, change });
  return found;
}

async function storeTotals(query: Query, periodId: number, totals: Counters): Promise<void> {
  await query(
    `UPDATE usage_totals SET points = :points, requests = :requests, time_ms = :time_ms,
       traffic_bytes = :traffic_bytes
     WHERE period_id = :periodId`,
    { periodId, ...totals },
  );
}

async function lockTotals(query: Query, periodId: number): Promise<void> {
  await query(
    `INSERT INTO usage_totals (period_id, points, requests, time_ms, traffic_bytes)
     VALUES (:periodId, 0, 0, 0, 0) ON CONFLICT (period_id) DO NOTHING`,
    { periodId },
  );
  // Not by an update: a row out of range violates the check constraint.
  await query('SELECT FROM usage_totals WHERE period_id = :periodId FOR UPDATE', { periodId });
}

type CheckedRow = Pick<Checked, 'period_id' | 'beyond_retention' | 'out_of_range'> &
  Record<`${'totals' | 'hourly'}_${keyof Counters}`, number>;

function checkedOf(row: CheckedRow): Checked {
  const part = (prefix: 'totals' | 'hourly'): Counters => ({
    points: row[`${prefix}_points`],
    requests: row[`${prefix}_requests`],
    time_ms: row[`${prefix}_time_ms`],
    traffic_bytes: row[`${prefix}_traffic_bytes`],
  });
  const { period_id, beyond_retention, out_of_range } = row;
  return { period_id, totals: part('totals'), hourly: part('hourly'), beyond_retention, out_of_range };
}
