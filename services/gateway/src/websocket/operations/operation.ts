import type { Lease } from '../../admission/leases.ts';
import type { PayerEntitlement } from '../../entitle/entitle.ts';
import type { OperationMeter } from '../../metering/operation-meter.ts';
import type { OperationTrace } from '../../trace/socket-trace.ts';
import type { OperationType } from './operation-type.ts';

/**
 * An operation that a caller has begun. It is open from its admission until the upstream or the caller ends it; a
 * query or mutation that was sent is open until it is answered, whatever its caller does.
 */
export type Operation = {
  id: string;
  type: OperationType;
  trace: OperationTrace | null;
  /** When its caller began it, by performance.now(). */
  startedMs: number;
  /** What the upstream knows it by; null until it has been sent there. */
  upstreamId: string | null;
  /** When that was, by performance.now(). */
  sentMs: number;
  /** What may be a subscription: its slot among those open, and from when it was sent its meter. */
  lease: Lease | null;
  meter: OperationMeter | null;
  /** What may be a query or mutation: its slot among the calls in flight, and who pays for it. */
  call: { lease: Lease; payer: PayerEntitlement } | null;
  /** The upstream has said something of it. */
  answered: boolean;
  /** The upstream has stated a price for it. */
  priced: boolean;
  /** Its caller has stopped it, or has gone: it gets no further messages. */
  abandoned: boolean;
  /** Resolves when its messages so far have been passed on: not before the usage is recorded. */
  passedOn: Promise<void>;
  ended: boolean;
};

export function newOperation(id: string, type: OperationType, trace: OperationTrace | null): Operation {
  return {
    id,
    type,
    trace,
    startedMs: performance.now(),
    upstreamId: null,
    sentMs: Infinity,
    lease: null,
    meter: null,
    call: null,
    answered: false,
    priced: false,
    abandoned: false,
    passedOn: NOTHING_HELD,
    ended: false,
  };
}

const NOTHING_HELD = Promise.resolve();

/** An operation of unknown type is held to what either type is held to. */
export const mayBeCall = ({ type }: Pick<Operation, 'type'>): boolean => type !== 'subscription';

export const mayBeSubscription = ({ type }: Pick<Operation, 'type'>): boolean =>
  type === 'subscription' || type === 'unknown';

/** It was sent, may have been carried out, and its price isn't known yet. */
export function isUnanswered({ call, upstreamId, answered, ended }: Operation): boolean {
  return call !== null && upstreamId !== null && !answered && !ended;
}

/** Its caller waits for the answer of what may be a query or mutation, and was sent. */
export function isAwaitedCall(operation: Operation): boolean {
  if (operation.abandoned || operation.upstreamId === null) return false;
  return !mayBeSubscription(operation) || isUnanswered(operation);
}

/** A function of its own, because the compiler believes that the member is still what it was before a wait. */
export function hasEnded({ ended }: Operation): boolean {
  return ended;
}
