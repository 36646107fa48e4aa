import type { Budget, Budgets } from '@tollgate/contracts/entitlement';
import type { Query } from '../../platform/database/query.ts';

type MemberRow = Budget & { application_id: null };
type ApplicationRow = Budget & { application_id: number };

/** Of the owner's figure and the manager's, the lower one: least() ignores null. */
const BUDGETS_SQL = `
  SELECT CAST(NULL AS bigint) AS application_id, points_per_period, points_per_day
  FROM member_budgets WHERE account_id = :accountId
  UNION ALL
  SELECT application_id, least(points_per_period, manager_points_per_period),
         least(points_per_day, manager_points_per_day)
  FROM application_budgets JOIN applications USING (application_id) WHERE account_id = :accountId
  ORDER BY application_id`;

/** What limits the account's calls beside its payer's points; undefined if nothing does. */
export async function findBudgets(query: Query, accountId: number): Promise<Budgets | undefined> {
  const rows = await query<MemberRow | ApplicationRow>(BUDGETS_SQL, { accountId });
  const member = rows.find((row) => row.application_id === null);
  const applications = rows.filter((row) => row.application_id !== null);
  if (rows.length === 0) return undefined;
  return {
    ...(member === undefined ? {} : { member: figuresOf(member) }),
    ...(applications.length === 0 ? {} : { applications }),
  };
}

function figuresOf({ points_per_period, points_per_day }: Budget): Budget {
  return { points_per_period, points_per_day };
}
