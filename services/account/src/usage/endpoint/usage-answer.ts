import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { Problem } from '@tollgate/http/problem';
import { reportedLimits } from '../../billing/periods/limits.ts';
import { billingStatus, pickPeriod } from '../../billing/periods/period-rules.ts';
import type { Standing } from '../../billing/periods/standing.ts';
import { sumUsage } from '../../billing/periods/usage-sums.ts';
import { toSecond } from '../../platform/timing/to-second.ts';

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
