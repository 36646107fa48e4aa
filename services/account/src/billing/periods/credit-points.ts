/**
 * Selects how many points credits add to a period's limit, as the database computes it for all that show it
 * (docs/design/credits.md). An index probe for an account that never had a grant. `at` is an SQL expression.
 */
export function creditPointsColumn(period: string, at: string): string {
  return `CASE WHEN EXISTS (SELECT FROM credit_grants WHERE credit_grants.account_id = ${period}.account_id)
    THEN period_credit_points(${period}.period_id, ${at}) ELSE 0 END AS credit_points`;
}
