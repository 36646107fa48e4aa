import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { Problem } from '@tollgate/problem';
import { reportedLimits } from '../billing/limits.ts';
import { billingStatus, pickPeriod } from '../billing/period-rules.ts';
import type { Standing } from '../billing/standing.ts';
import { sumUsage } from '../billing/usage-sums.ts';
import { toSecond } from '../timing/to-second.ts';

/**
 * What `GET /api/usage` says of an account's standing (source specification, parts 2 to 4.2). The account's
 * own states never refuse it: a blocked or expired account sees so.
 *
 * @throws {Problem} no_billing_period where the payer has had none so far.
 */
export function usageAnswer(standing: Standing, now: Date): UsageResponse {
  const period = pickPeriod(standing.periods, now);
  if (period === undefined) throw new Problem('no_billing_period');
  return {
    account_id: standing.account_id,
    payer_id: standing.payer_id,
    status: billingStatus(period, standing.account_blocked, now),
    billing_period: {
      started_at: toSecond(period.started_at),
      ended_at: toSecond(period.ended_at),
      plan_name: period.plan_name,
      product: period.product_name === null ? null : { name: period.product_name },
      limits: reportedLimits(period),
      usage: sumUsage([period]),
      description: period.description,
    },
  };
}
