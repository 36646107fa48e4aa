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

const POINTS_SQL = `SELECT CAST(${bounded('sum(points)')} AS bigint) FROM usage_hourly
  WHERE usage_hourly.account_id = budget.account_id
    AND (budget.application_id IS NULL OR usage_hourly.application_id = budget.application_id)`;

const USES_SQL = `
  SELECT budget.*,
         (${POINTS_SQL} AND period_id = period.period_id AND hour >= period.started_at - interval '1 day')
           AS points_in_period,
         (${POINTS_SQL} AND hour >= date_trunc('day', now(), 'UTC') AND period_id IN (
           SELECT other.period_id FROM billing_periods AS other WHERE other.account_id = period.account_id))
           AS points_today,
         CAST(CAST(now() AT TIME ZONE 'UTC' AS date) AS text) AS today
  FROM billing_periods AS period CROSS JOIN LATERAL (
    WITH spender AS (
      SELECT period.account_id
      UNION ALL SELECT member.account_id FROM team_members AS manager JOIN team_members AS member USING (team_id)
        WHERE manager.account_id = period.account_id AND manager.role = 'manager' AND member.role = 'member'
    )
    SELECT account_id, CAST(NULL AS bigint) AS application_id, points_per_period, points_per_day
    FROM spender JOIN member_budgets USING (account_id)
    UNION ALL
    SELECT account_id, application_id, least(points_per_period, manager_points_per_period),
           least(points_per_day, manager_points_per_day)
    FROM spender JOIN applications USING (account_id) JOIN application_budgets USING (application_id)
  ) AS budget
  WHERE period.period_id = :periodId
  ORDER BY budget.account_id, budget.application_id`;

/** All budgets that the period's payer pays for. */
export function findBudgetUses(query: Query, periodId: number): Promise<BudgetUse[]> {
  return query<BudgetUse>(USES_SQL, { periodId });
}
