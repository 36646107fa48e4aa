import type { PlanLimits } from '@tollgate/contracts/plan-limits';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

/** The largest limits of plans that are not archived. One without a limit doesn't count: it promises no number. */
export async function largestPlanLimits(query: Query): Promise<PlanLimits> {
  return singleRow(
    await query<PlanLimits>(
      `SELECT CAST(max(CAST(description ->> 'subscription_limit' AS numeric)) AS bigint) AS subscription_limit
       FROM plans WHERE archived_at IS NULL`,
    ),
  );
}
