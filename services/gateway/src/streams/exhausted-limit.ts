import { Problem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../ledger/principal.ts';
import type { PointsLeft } from '../ledger/points-left.ts';
import type { LiveUsage } from '../ledger/record-script.ts';
import { budgetExceeded, notCovered, periodLimitExceeded } from '../pipeline/admit/refused.ts';

type Points = Pick<PointsLeft, 'ofPayer' | 'reached' | 'ofReached' | 'unreserved'> & {
  /** Whether the subscriptions use any. */
  cost: boolean;
  /** What one of them reserves at least, for which `reached` tells. */
  need: number;
};

/** Why open subscriptions have to end: the first used-up limit that applies to them, in the order of admission. */
export function exhaustedLimit(
  payer: PayerEntitlement,
  live: LiveUsage,
  { cost, need, ofPayer, reached, ofReached, unreserved }: Points,
): Problem | null {
  const { time_sec_limit, traffic_bytes_limit } = payer.limits;
  // What is reserved for the next minute isn't covered any more.
  const isUncovered = unreserved < 0;
  if (cost) {
    if (ofPayer <= 0) return periodLimitExceeded('points', payer);
    if (isUncovered && ofPayer < need) return notCovered({ points: need, left: ofPayer }, payer, null);
    if (reached !== null && ofReached <= 0) return budgetExceeded(reached, payer);
    if (isUncovered && reached !== null) return notCovered({ points: need, left: ofReached }, payer, reached);
    if (isUncovered) return new Problem('points_reserved');
  }
  if (traffic_bytes_limit !== null && live.traffic_bytes >= traffic_bytes_limit)
    return periodLimitExceeded('traffic', payer);
  if (time_sec_limit !== null && live.time_ms >= time_sec_limit * 1000)
    return periodLimitExceeded('time', payer);
  return null;
}
