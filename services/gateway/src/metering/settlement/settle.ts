import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Lease } from '../../admission/leases.ts';
import type { Charge } from '../../entitle/entitle.ts';
import type { LiveUsage } from './settle-script.ts';
import type { RecordUsage, UntimedUsage } from './settlement.ts';

/** What an answer cost: points by the upstream's word, bytes of its body as sent to the caller. */
export type AnswerUsage = { points: number; trafficBytes: number };

/** Who used something, and on whose period. */
export type Consumer = {
  token: Pick<ActiveToken, 'account_id' | 'application_id'>;
  charge: Pick<Charge, 'payerId' | 'periodId'>;
  /** Which API was used; the newest where it isn't said. */
  apiVersion?: UsageEvent['api_version'];
};

/** Resolves with whether the caller may see the answer completed. */
export type Settle = (consumer: Consumer, usage: AnswerUsage, lease: Lease) => Promise<boolean>;

export type Patience = {
  /** How long a finished answer waits to be recorded. */
  patienceMs: number;
  /** What becomes of it then: it isn't completed, or it is, and counted when Redis is back. */
  unacknowledged: 'refuse' | 'pass';
  /** Told of each acknowledgement: when it began to be waited for, by performance.now(). */
  onSettled?: (beganMs: number) => void;
};

/**
 * Part 5 of a data call: its usage goes to the payer's period, and its lease back, in one step. Called once for
 * each call that the upstream has begun to answer, also where the caller went away or the answer broke off
 * after that. An answer is completed when its usage is recorded: what a caller saw answered is never lost.
 */
export function createSettle(record: RecordUsage, patience: Patience): Settle {
  return (consumer, { points, trafficBytes }, lease) => {
    const used = { points, requests: 1, time_ms: 0, traffic_bytes: trafficBytes };
    return inTime(record(usageEvent(consumer, used), lease.handOver()), patience);
  };
}

/** Whether an answer may be completed: when its usage is recorded, or patience has ended and settings allow it. */
export function inTime(
  recorded: Promise<unknown>,
  { patienceMs, unacknowledged, onSettled }: Patience,
): Promise<boolean> {
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(unacknowledged === 'pass');
    }, patienceMs);
    void recorded.then(() => {
      clearTimeout(timer);
      onSettled?.(beganMs);
      resolve(true);
    });
  });
}

export function usageEvent({ token, charge, apiVersion = 'v2' }: Consumer, used: LiveUsage): UntimedUsage {
  return {
    payer_id: charge.payerId,
    period_id: charge.periodId,
    account_id: token.account_id,
    application_id: token.application_id,
    api_version: apiVersion,
    ...used,
  };
}
