import type { ActiveToken } from '@tollgate/contracts/introspection';
import { acknowledgedInTime, usageEvent } from '../../metering/settlement/settle-call.ts';
import type { SettlementTimeout } from '../../metering/settlement/settle-call.ts';
import type { RecordUsage } from '../../metering/settlement/record-usage.ts';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { isObject } from '../message.ts';
import type { Operation } from './operation.ts';
import type { StatedPoints } from './stated-points.ts';
import type { UpstreamMessage } from '../upstream/upstream-link.ts';

/** What a message of the upstream says of an operation. */
export type Answer = {
  /** How the operation ends with it; null where it goes on. */
  end: TracedEnd | null;
  points: number;
  isFirst: boolean;
  isResult: boolean;
  /** No further part of the result follows: a call is no longer in flight. */
  isWhole: boolean;
};

/** What the upstream says of an error isn't read: like a call's, its errors may be its caller's fault. */
const ERRORED: TracedEnd = { outcome: 'errored', failed: false };
const COMPLETED: TracedEnd = { outcome: 'completed', failed: false };

/**
 * Reads a message of an open operation. It costs what the upstream states; else a result of a query or mutation costs
 * the default, unless an earlier part of it stated a price.
 */
export function readAnswer(
  operation: Operation,
  { type, payload }: UpstreamMessage,
  price: { statedPoints: StatedPoints; defaultPoints: number },
): Answer {
  const end = type === 'complete' ? COMPLETED : type === 'error' ? ERRORED : null;
  const isFirst = !operation.answered;
  operation.answered = true;
  // An error is the result of an operation that has none.
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
    isWhole: end !== null || !(isObject(payload) && payload['hasNext'] === true),
  };
}

/** Resolves with whether the caller may see it. */
export type RecordAnswer = (operation: Operation, answer: Answer, trafficBytes: number) => Promise<boolean>;

/**
 * Records what an answer to a query or mutation cost, and gives its slot back in the same step. As over HTTP its
 * caller sees it when that is done, so that no answer is lost to the usage with this process.
 */
export function createRecordAnswer(
  record: RecordUsage,
  settlementTimeout: SettlementTimeout,
  token: ActiveToken,
): RecordAnswer {
  return ({ call, meter }, { points, isFirst, isWhole }, trafficBytes) => {
    if (call === null) return Promise.resolve(true);
    // What may be a subscription is counted as a request by its meter.
    const requests = isFirst && meter === null ? 1 : 0;
    const used = { points, requests, time_ms: 0, traffic_bytes: trafficBytes };
    const lease = isWhole ? call.lease.handOver() : null;
    return acknowledgedInTime(record(usageEvent({ token, payer: call.payer }, used), lease), settlementTimeout);
  };
}
