import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Lease } from '../../admission/leases.ts';
import type { PayerEntitlement } from '../../entitle/entitle.ts';
import type { LiveUsage } from './settle-script.ts';
import type { RecordUsage, UntimedUsage } from './settlement.ts';

/** What an answer cost: points by the upstream's word, bytes of its body as sent to the caller. */
export type AnswerUsage = { points: number; trafficBytes: number };

/** Who used something, and on whose period. */
export type Consumer = {
  token: Pick<ActiveToken, 'account_id' | 'application_id'>;
  payer: Pick<PayerEntitlement, 'payerId' | 'periodId'>;
  /** Which API was used; the newest where it isn't said. */
  apiVersion?: UsageEvent['api_version'];
};

/** Resolves with whether the caller may see the answer completed. */
export type Settle = (consumer: Consumer, usage: AnswerUsage, lease: Lease) => Promise<boolean>;

export type SettlementTimeout = {
  /** How long a finished answer waits to be recorded. */
  timeoutMs: number;
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
export function createSettle(record: RecordUsage, settlementTimeout: SettlementTimeout): Settle {
  return (consumer, { points, trafficBytes }, lease) => {
    const used = { points, requests: 1, time_ms: 0, traffic_bytes: trafficBytes };
    return inTime(record(usageEvent(consumer, used), lease.handOver()), settlementTimeout);
  };
}

/** Whether an answer may be completed: when its usage is recorded, or the timeout has passed and settings allow it. */
export function inTime(
  recorded: Promise<unknown>,
  { timeoutMs, unacknowledged, onSettled }: SettlementTimeout,
): Promise<boolean> {
  const beganMs = performance.now();
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(unacknowledged === 'pass');
    }, timeoutMs);
    void recorded.then(() => {
      clearTimeout(timer);
      onSettled?.(beganMs);
      resolve(true);
    });
  });
}

export function usageEvent({ token, payer, apiVersion = 'v2' }: Consumer, used: LiveUsage): UntimedUsage {
  return {
    payer_id: payer.payerId,
    period_id: payer.periodId,
    account_id: token.account_id,
    application_id: token.application_id,
    api_version: apiVersion,
    ...used,
  };
}
