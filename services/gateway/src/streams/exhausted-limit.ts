import type { PayerEntitlement } from '../ledger/principal.ts';
import type { LiveUsage } from '../ledger/record-script.ts';

/** The first used-up limit of the period that applies to open subscriptions. */
export function exhaustedLimit(
  { time_sec_limit, traffic_bytes_limit }: PayerEntitlement['limits'],
  live: LiveUsage,
  points: { cost: boolean; left: number },
): 'points' | 'traffic' | 'time' | null {
  if (points.cost && points.left <= 0) return 'points';
  if (traffic_bytes_limit !== null && live.traffic_bytes >= traffic_bytes_limit) return 'traffic';
  if (time_sec_limit !== null && live.time_ms >= time_sec_limit * 1000) return 'time';
  return null;
}
