import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Charge } from './entitle.ts';

/** What an answer cost: points by the upstream's word, bytes of its body as sent to the caller. */
export type AnswerUsage = { points: number; trafficBytes: number };

export type Settle = (token: ActiveToken, charge: Charge, usage: AnswerUsage) => void;

/**
 * Part 5 of a data call: its usage goes to the payer's period. Called once for each call that the upstream
 * has begun to answer, also where the caller went away or the answer broke off after that.
 */
export function createSettle(
  settlement: { record: (event: UsageEvent) => void },
  now: () => number = Date.now,
): Settle {
  return (token, charge, usage) => {
    settlement.record({
      payer_id: charge.payerId,
      period_id: charge.periodId,
      account_id: token.account_id,
      application_id: token.application_id,
      api_version: 'v2',
      points: usage.points,
      requests: 1,
      time_ms: 0,
      traffic_bytes: usage.trafficBytes,
      at_ms: now(),
    });
  };
}
