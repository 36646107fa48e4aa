import { enforcedLimits } from '../../billing/periods/limits.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { billingStatus, pickPeriod } from '../../billing/periods/period-rules.ts';
import type { Query } from '../../platform/database/query.ts';

/**
 * What the account's calls can still use, as its limit is shown. Undefined if they couldn't use what is bought: it is
 * blocked, a member's, or has no period that limits points.
 */
export async function findPointsLeft(query: Query, accountId: number): Promise<number | undefined> {
  const found = await findPayerPeriods(query, accountId);
  if (found?.payer_id !== accountId) return undefined;
  const period = pickPeriod(found.periods, found.now);
  if (period === undefined) return undefined;
  const status = billingStatus(period, found.account_blocked, found.now);
  const limit = enforcedLimits(period).points_limit;
  if (status === 'blocked' || status === 'expired' || limit === null) return undefined;
  return Math.max(0, limit - period.points);
}
