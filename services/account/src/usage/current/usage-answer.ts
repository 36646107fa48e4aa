import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { Problem } from '@tollgate/http/problem';
import { reportedLimits } from '../../billing/periods/limits.ts';
import { billingStatus, pickPeriod } from '../../billing/periods/period-rules.ts';
import type { PayerPeriods } from '../../billing/periods/payer-periods.ts';
import { sumUsage } from '../../billing/periods/usage-sums.ts';
import { isoSeconds } from '../../http/iso-seconds.ts';

/**
 * The response of `GET /api/usage` (source specification, parts 2 to 4.2). Blocked and expired accounts get it, too.
 * @throws {Problem} no_billing_period if the payer never had one.
 */
export function usageAnswer(payerPeriods: PayerPeriods, now: Date): UsageResponse {
  const period = pickPeriod(payerPeriods.periods, now);
  if (period === undefined) throw new Problem('no_billing_period');
  return {
    account_id: payerPeriods.account_id,
    payer_id: payerPeriods.payer_id,
    status: billingStatus(period, payerPeriods.account_blocked, now),
    billing_period: {
      started_at: isoSeconds(period.started_at),
      ended_at: isoSeconds(period.ended_at),
      plan_name: period.plan_name,
      product: period.product_name === null ? null : { name: period.product_name },
      limits: reportedLimits(period),
      usage: sumUsage([period]),
      description: period.description,
    },
  };
}
