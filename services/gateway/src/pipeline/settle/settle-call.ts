import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Lease } from '../../ledger/leases.ts';
import type { Principal } from '../../ledger/principal.ts';
import type { RecordUsage } from '../../ledger/record-usage.ts';
import type { CountedOperation } from '../../operation-reader/counted-operation.ts';
import { usageEvent } from '../../ledger/usage-event.ts';

type SettledCall = Principal & {
  apiVersion: UsageEvent['api_version'];
  lease: Lease;
  /** Operations; a batch has several. */
  count: number;
  /** Null if it isn't known. */
  counted: CountedOperation | null;
  /** What it was to cost at most; null without an estimate. */
  estimatedPoints: number | null;
};

type SettledAnswer = {
  /** The upstream's points, and the body bytes sent to the caller; null if there is nothing to settle. */
  usage: { points: number; trafficBytes: number; isStated: boolean; isError: boolean } | null;
  /** The meter of a stream, which has settled all but the rest. */
  stream: { end: () => Promise<unknown> } | null;
};

/** Resolves with whether the response may be completed. `durationMs`: from the call's head to the end of the answer. */
export type Settle = (call: SettledCall, answer: SettledAnswer, durationMs: number) => Promise<boolean>;

/** Called with what a call cost, and what it was to cost at most. */
export type OnCompared = (points: number, estimatedPoints: number) => void;

export type SettlementTimeout = {
  timeoutMs: number;
  /** Then: don't complete it, or complete it and count it when Redis is back. */
  unacknowledged: 'refuse' | 'pass';
  /** Called at each acknowledgement with the start of the wait, by performance.now(). */
  onSettled?: (beganMs: number) => void;
};

/**
 * Settles each call whose response has begun, even if it breaks off. A response completes only when
 * its usage is recorded, so no usage of a completed response is lost.
 */
export function createSettle(
  record: RecordUsage,
  settlementTimeout: SettlementTimeout,
  onCompared: OnCompared,
): Settle {
  return (call, { usage, stream }, durationMs) => {
    if (stream !== null) return acknowledgedInTime(stream.end(), settlementTimeout);
    if (usage === null) return Promise.resolve(true);
    const { counted } = call;
    const { points, trafficBytes, isStated, isError } = usage;
    const estimatedPoints = isStated && !isError ? call.estimatedPoints : null;
    const used = { points, requests: call.count, time_ms: 0, traffic_bytes: trafficBytes };
    if (estimatedPoints !== null) onCompared(points, estimatedPoints);
    const operation = counted === null ? null : { counted, isError, durationMs, estimatedPoints };
    return acknowledgedInTime(
      record(usageEvent(call, used, operation, call.apiVersion), call.payer.lane, call.lease.handOver()),
      settlementTimeout,
    );
  };
}

/** Resolves true when the usage is recorded; at the timeout, with whether settings let the response pass. */
export function acknowledgedInTime(
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
