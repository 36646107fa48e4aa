import { usageEvent } from '../../ledger/usage-event.ts';
import { acknowledgedInTime } from '../../pipeline/settle/settle-call.ts';
import type { OnCompared, SettlementTimeout } from '../../pipeline/settle/settle-call.ts';
import type { RecordUsage } from '../../ledger/record-usage.ts';
import type { Principal } from '../../ledger/principal.ts';
import { isObject } from '../../operation-reader/json.ts';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import type { UpstreamMessage } from '../upstream/upstream-socket.ts';
import type { OpenOperations, Operation } from './open-operations.ts';
import type { StatedPoints } from './stated-points.ts';

export type Pricing = {
  statedPoints: StatedPoints;
  /** Of each result without stated points, unless the operation has an estimate that counts. */
  defaultPoints: number;
};

export type PricedMessage = {
  end: TracedEnd | null;
  points: number;
  /** Of these, what the upstream doesn't state. */
  unstatedPoints: number;
  /** Whether no part of the result costs the default any more: the upstream states these points, or they are the estimate. */
  isOfWhole: boolean;
  isFirst: boolean;
  isResult: boolean;
  /** No further part of the result follows, so a call releases its slot. */
  isFinal: boolean;
};

/** No failure of the upstream: as with a call, its errors may be the caller's fault. */
const ERRORED: TracedEnd = { outcome: 'errored', failed: false };
const COMPLETED: TracedEnd = { outcome: 'completed', failed: false };

/**
 * By the points that the upstream states; otherwise a call's result costs the default, unless a part was priced, and all
 * of them together what is reserved, if the payer's points are strict.
 */
export function priceMessage(
  {
    state,
    call,
    hasPrice,
    estimatedPoints,
  }: Pick<Operation, 'state' | 'call' | 'hasPrice' | 'estimatedPoints'>,
  { type, payload }: Pick<UpstreamMessage, 'type' | 'payload'>,
  { statedPoints, defaultPoints }: Pricing,
): PricedMessage {
  const end = type === 'complete' ? COMPLETED : type === 'error' ? ERRORED : null;
  const isFirst = state === 'sent' || state === 'abandoned';
  // An error instead of a result counts as one.
  const isResult = end === null || (end === ERRORED && isFirst);
  const stated = statedPoints(payload);
  const isDefault = isResult && call !== null && !hasPrice;
  const unstatedPoints =
    stated === null && isDefault ? Math.min(estimatedPoints ?? defaultPoints, call.mostUnstatedPoints) : 0;
  return {
    end,
    points: stated ?? unstatedPoints,
    unstatedPoints,
    isOfWhole: stated !== null || (isDefault && estimatedPoints !== null),
    isFirst,
    isResult,
    // Incremental delivery (@defer, @stream) announces further parts.
    isFinal: end !== null || !(isObject(payload) && payload['hasNext'] === true),
  };
}

/** Resolves when the usage is recorded, or its timeout has passed: with whether the message may go to the caller. */
export type SettleMessage = (
  operation: Operation,
  message: PricedMessage,
  trafficBytes: number,
) => Promise<boolean>;

/** Records and releases the slot before the caller gets the message: no usage of a delivered result is lost. */
export function createSettleMessage(
  {
    record,
    settlementTimeout,
    onCompared,
  }: { record: RecordUsage; settlementTimeout: SettlementTimeout; onCompared: OnCompared },
  { token }: Pick<Principal, 'token'>,
  operations: Pick<OpenOperations, 'handOverSlot'>,
): SettleMessage {
  return (operation, { points, isOfWhole, isFirst, isFinal, end }, trafficBytes) => {
    const { call, subscription, counted, sentMs } = operation;
    if (call === null) return Promise.resolve(true);
    // If its time runs as that of a subscription, its meter counts the request.
    const requests = isFirst && subscription === null ? 1 : 0;
    const used = { points, requests, time_ms: 0, traffic_bytes: trafficBytes };
    // Later parts of a result belong to the request that is counted with the first one.
    const durationMs = requests === 1 ? performance.now() - sentMs : null;
    const use =
      counted === null ? null : { counted, isError: end === ERRORED, durationMs, estimatedPoints: null };
    if (isOfWhole && call.reservedPoints > 0) onCompared(points, call.reservedPoints);
    const slot = isFinal ? operations.handOverSlot(operation) : null;
    return acknowledgedInTime(
      record(usageEvent({ token, payer: call.payer }, used, use), call.payer.lane, slot),
      settlementTimeout,
    );
  };
}
