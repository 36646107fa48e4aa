import type { Limits } from '@tollgate/contracts/entitlement';
import type { AdmitAnswer } from './admit-script.ts';

/** Where a payer stands at the moment of an admission; null where the plan has no such limit. */
export type RateLimitState = {
  /** Of the billing period, before this call's own. */
  pointsRemaining: number | null;
  rate: {
    perMinute: number;
    /** Calls that would pass at this moment. */
    remaining: number;
    /** Until a whole minute's worth is there again, rounded up. */
    resetSec: number;
  } | null;
};

export function rateLimitStateOf(limits: Limits, answer: AdmitAnswer): RateLimitState {
  return {
    pointsRemaining: answer.pointsLeft,
    rate:
      limits.rate_limit === null
        ? null
        : {
            perMinute: limits.rate_limit,
            remaining: answer.callsLeft,
            resetSec: Math.ceil(answer.resetUs / 1_000_000),
          },
  };
}

/**
 * Header fields of every data answer, refusals included: draft-ietf-httpapi-ratelimit-headers, and the points.
 * `costPoints` is what the answer itself takes of them.
 */
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
