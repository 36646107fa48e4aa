import type { Limits } from '@tollgate/contracts/entitlement';
import type { AdmissionDecision } from '../../ledger/admit-script.ts';

/** A payer's limits at the moment of an admission; null without such a limit. */
export type RateLimitState = {
  pointsRemaining: number | null;
  rate: {
    perMinute: number;
    remaining: number;
    /** Until a whole minute's worth is available, rounded up. */
    resetSec: number;
  } | null;
};

export function rateLimitStateOf(limits: Limits, decision: AdmissionDecision): RateLimitState {
  return {
    pointsRemaining: decision.pointsLeft,
    rate:
      limits.rate_limit === null
        ? null
        : {
            perMinute: limits.rate_limit,
            remaining: decision.callsLeft,
            resetSec: Math.ceil(decision.resetUs / 1_000_000),
          },
  };
}

/** draft-ietf-httpapi-ratelimit-headers, and the points left after `costPoints`; refusals have these fields too. */
export function rateLimitFields(
  { pointsRemaining, rate }: RateLimitState,
  costPoints = 0,
): Record<string, string> {
  const fields: Record<string, string> = {};
  if (rate !== null) {
    fields['ratelimit-policy'] = `"rate";q=${String(rate.perMinute)};w=60`;
    fields['ratelimit'] = `"rate";r=${String(rate.remaining)};t=${String(rate.resetSec)}`;
  }
  if (pointsRemaining !== null) {
    fields['x-points-remaining'] = String(Math.max(pointsRemaining - costPoints, 0));
  }
  return fields;
}
