import { Problem } from '@tollgate/http/problem';
import type { ReachedBudget } from '../ledger/budgets.ts';
import type { PayerEntitlement } from '../ledger/principal.ts';
import type { LiveUsage } from '../ledger/record-script.ts';
import { budgetExceeded, periodLimitExceeded } from '../pipeline/admit/refused.ts';

/** Why open subscriptions have to end: the first used-up limit that applies to them, in the order of admission. */
export function exhaustedLimit(
  payer: PayerEntitlement,
  live: LiveUsage,
  points: { cost: boolean; left: number; reached: ReachedBudget | null; unreserved: number },
): Problem | null {
  const { time_sec_limit, traffic_bytes_limit } = payer.limits;
  if (points.cost && points.left <= 0) return periodLimitExceeded('points', payer);
  if (points.cost && points.reached !== null) return budgetExceeded(points.reached, payer);
  // What is reserved for its next minute isn't covered any more.
  if (points.cost && points.unreserved < 0) return new Problem('points_reserved');
  if (traffic_bytes_limit !== null && live.traffic_bytes >= traffic_bytes_limit)
    return periodLimitExceeded('traffic', payer);
  if (time_sec_limit !== null && live.time_ms >= time_sec_limit * 1000)
    return periodLimitExceeded('time', payer);
  return null;
}
