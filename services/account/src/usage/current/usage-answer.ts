import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { reportedLimits } from '../../billing/periods/limits.ts';
import { billingStatus, pickPeriod } from '../../billing/periods/period-rules.ts';
import type { PayerPeriods } from '../../billing/periods/payer-periods.ts';
import { sumUsage } from '../../billing/periods/usage-sums.ts';
import { isoSeconds } from '../../http/iso-seconds.ts';

/**
 * The response of `GET /api/usage` (source specification, parts 2 to 4.2). Blocked and expired accounts get it, too.
 * Undefined if none of the payer's periods has started.
 */
export function usageAnswer(payerPeriods: PayerPeriods, now: Date): UsageResponse | undefined {
  const period = pickPeriod(payerPeriods.periods, now);
  if (period === undefined) return undefined;
  return {
    account_id: payerPeriods.account_id,
    payer_id: payerPeriods.payer_id,
    // A block of the account stops calls now; it says nothing about a period that another one followed.
    status: billingStatus(period, payerPeriods.account_blocked && !period.followed, now),
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
