import type { Spent } from '@tollgate/contracts/usage-stream';
import type { Query } from '../../platform/database/query.ts';
import { findPayerPeriods } from '../periods/payer-periods.ts';
import { pickPeriod } from '../periods/period-rules.ts';
import { bounded } from '../periods/usage-sums.ts';

const POINTS = `CAST(${bounded('sum(points)')} AS bigint)`;

/** UTC days of hours, as events' `at_ms` decides both. */
const DAY = "CAST(hour AT TIME ZONE 'UTC' AS date)";

/**
 * SQL: what an application or a member has spent in a period, and on UTC days of the payer, as the contract's `Spent`.
 * The lower bound of the period skips older partitions; it is a day early because gateways' clocks may be behind.
 * @param period alias of the billing period's row
 * @param use condition on usage_hourly
 */
export function spentSql(period: string, use: string): string {
  return `json_build_object(
    'points', (SELECT ${POINTS} FROM usage_hourly
      WHERE ${use} AND usage_hourly.period_id = ${period}.period_id
        AND hour >= ${period}.started_at - interval '1 day'),
    'days', (SELECT coalesce(json_agg(json_build_object('day', day, 'points', points) ORDER BY day), '[]') FROM (
      SELECT ${DAY} AS day, ${POINTS} AS points FROM usage_hourly
      WHERE ${use} AND hour >= date_trunc('day', now(), 'UTC') - interval '1 day'
        AND usage_hourly.period_id IN (
          SELECT other.period_id FROM billing_periods AS other WHERE other.account_id = ${period}.account_id)
      GROUP BY ${DAY} HAVING sum(points) > 0) AS days))`;
}

/** By its account, too: by it the rows are found. */
export const OF_APPLICATION = `usage_hourly.application_id = :application_id
  AND usage_hourly.account_id = (SELECT account_id FROM applications WHERE application_id = :application_id)`;

export const OF_MEMBER = 'usage_hourly.account_id = :account_id';

/** Null and 0 without a billing period. */
export type SpentNow = { points_in_period: number | null; points_today: number };

/** In the payer's current billing period. `account_id` is the member's or the application's. */
export async function findSpent(
  query: Query,
  { account_id, application_id }: { account_id: number; application_id?: number },
): Promise<SpentNow> {
  const found = await findPayerPeriods(query, account_id);
  const period = found === undefined ? undefined : pickPeriod(found.periods, found.now);
  if (found === undefined || period === undefined) return { points_in_period: null, points_today: 0 };
  const use = application_id === undefined ? OF_MEMBER : OF_APPLICATION;
  const [row] = await query<{ spent: Spent }>(
    `SELECT ${spentSql('period', use)} AS spent FROM billing_periods AS period WHERE period_id = :period_id`,
    { period_id: period.period_id, account_id, application_id: application_id ?? null },
  );
  const today = found.now.toISOString().slice(0, 10);
  return {
    points_in_period: row?.spent.points ?? 0,
    points_today: row?.spent.days.find(({ day }) => day === today)?.points ?? 0,
  };
}

/** Today's points of those who spent any of the payer's. */
export async function findSpentToday(
  query: Query,
  payerId: number,
  accountIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await query<{ account_id: number; points: number }>(
    `SELECT account_id, ${POINTS} AS points FROM usage_hourly
     WHERE account_id = ANY (CAST(:accountIds AS bigint[])) AND hour >= date_trunc('day', now(), 'UTC')
       AND period_id IN (SELECT period_id FROM billing_periods WHERE billing_periods.account_id = :payerId)
     GROUP BY account_id`,
    { payerId, accountIds },
  );
  return new Map(rows.map(({ account_id, points }) => [account_id, points]));
}
