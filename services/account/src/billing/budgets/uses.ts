import type { Budget } from '@tollgate/contracts/entitlement';
import type { Query } from '../../platform/database/query.ts';
import { bounded } from '../periods/usage-sums.ts';

/** A budget with the lower figures, and what was spent of the payer's points. */
export type BudgetUse = Budget & {
  /** The member's, or of the application's owner. */
  account_id: number;
  /** Null for a member's budget. */
  application_id: number | null;
  points_in_period: number;
  points_today: number;
  /** The UTC day that is meant, as 2026-11-27. */
  today: string;
};

/** Hourly rows are read once, however many budgets there are. */
const USES_SQL = `
  WITH period AS (
    SELECT period_id, account_id, started_at FROM billing_periods WHERE period_id = :periodId
  ), spender AS (
    SELECT account_id FROM period
    UNION ALL SELECT member.account_id
      FROM period JOIN team_members AS manager USING (account_id) JOIN team_members AS member USING (team_id)
      WHERE manager.role = 'manager' AND member.role = 'member'
  ), budget AS (
    SELECT account_id, CAST(NULL AS bigint) AS application_id, points_per_period, points_per_day
    FROM spender JOIN member_budgets USING (account_id)
    UNION ALL
    SELECT account_id, application_id, least(points_per_period, manager_points_per_period),
           least(points_per_day, manager_points_per_day)
    FROM spender JOIN applications USING (account_id) JOIN application_budgets USING (application_id)
  ), spent AS (
    SELECT account_id, application_id, sum(points) FILTER (WHERE period_id = :periodId) AS in_period,
           sum(points) FILTER (WHERE hour >= date_trunc('day', now(), 'UTC')) AS today
    FROM usage_hourly
    WHERE account_id = ANY (ARRAY(SELECT budget.account_id FROM budget))
      AND hour >= (SELECT least(started_at - interval '1 day', date_trunc('day', now(), 'UTC')) FROM period)
      AND period_id IN (SELECT other.period_id FROM billing_periods AS other JOIN period USING (account_id))
    GROUP BY account_id, application_id
  )
  SELECT budget.*, CAST(${bounded('used.in_period')} AS bigint) AS points_in_period,
         CAST(${bounded('used.today')} AS bigint) AS points_today,
         CAST(CAST(now() AT TIME ZONE 'UTC' AS date) AS text) AS today
  FROM budget CROSS JOIN LATERAL (
    SELECT sum(in_period) AS in_period, sum(today) AS today FROM spent
    WHERE spent.account_id = budget.account_id
      AND (budget.application_id IS NULL OR spent.application_id = budget.application_id)) AS used
  ORDER BY budget.account_id, budget.application_id`;

/** All budgets that the period's payer pays for. */
export function findBudgetUses(query: Query, periodId: number): Promise<BudgetUse[]> {
  return query<BudgetUse>(USES_SQL, { periodId });
}
