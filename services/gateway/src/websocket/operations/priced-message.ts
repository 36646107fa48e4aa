import type { ActiveToken } from '@tollgate/contracts/introspection';
import { acknowledgedInTime, usageEvent } from '../../metering/settlement/settle-call.ts';
import type { SettlementTimeout } from '../../metering/settlement/settle-call.ts';
import type { RecordUsage } from '../../metering/settlement/record-usage.ts';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { isObject } from '../../operation-reader/json.ts';
import type { Operation } from './operation.ts';
import type { StatedPoints } from './stated-points.ts';
import type { UpstreamMessage } from '../upstream/upstream-socket.ts';

export type PricedMessage = {
  end: TracedEnd | null;
  points: number;
  isFirst: boolean;
  isResult: boolean;
  /** No further part of the result follows, so a call releases its slot. */
  isFinal: boolean;
};

/** No failure of the upstream: as with a call, its errors may be the caller's fault. */
const ERRORED: TracedEnd = { outcome: 'errored', failed: false };
const COMPLETED: TracedEnd = { outcome: 'completed', failed: false };

/** By the points that the upstream states; otherwise a call's result costs the default, unless a part was priced. */
export function priceMessage(
  operation: Operation,
  { type, payload }: UpstreamMessage,
  price: { statedPoints: StatedPoints; defaultPoints: number },
): PricedMessage {
  const end = type === 'complete' ? COMPLETED : type === 'error' ? ERRORED : null;
  const isFirst = !operation.answered;
  operation.answered = true;
  // An error instead of a result counts as one.
  const isResult = end === null || (end === ERRORED && isFirst);
  const stated = price.statedPoints(payload);
  const isDefault = isResult && operation.call !== null && !operation.priced;
  operation.priced ||= stated !== null;
  return {
    end,
    points: stated ?? (isDefault ? price.defaultPoints : 0),
    isFirst,
    isResult,
    // Incremental delivery (@defer, @stream) announces further parts.
    isFinal: end !== null || !(isObject(payload) && payload['hasNext'] === true),
  };
}

export type SettleMessage = (
  operation: Operation,
  message: PricedMessage,
  trafficBytes: number,
) => Promise<boolean>;

/** Records and releases the slot before the caller gets the message: no usage of a delivered result is lost. */
export function createSettleMessage(
  record: RecordUsage,
  settlementTimeout: SettlementTimeout,
  token: ActiveToken,
): SettleMessage {
  return ({ call, meter }, { points, isFirst, isFinal }, trafficBytes) => {
    if (call === null) return Promise.resolve(true);
    // If it may be a subscription, its meter counts the request.
    const requests = isFirst && meter === null ? 1 : 0;
    const used = { points, requests, time_ms: 0, traffic_bytes: trafficBytes };
    const lease = isFinal ? call.lease.handOver() : null;
    return acknowledgedInTime(
      record(usageEvent({ token, payer: call.payer }, used), lease),
      settlementTimeout,
    );
  };
}
