import type { Lease } from '../../admission/leases.ts';
import type { PayerEntitlement } from '../../entitle/entitle.ts';
import type { Subscription } from '../../metering/open-subscriptions.ts';
import type { OperationTrace } from '../../trace/socket-trace.ts';
import type { OperationType } from '../../operation-reader/document-types.ts';

/** Open until the upstream or the caller ends it; a sent query or mutation is open until it is answered. */
export type Operation = Subscription & {
  id: string;
  type: OperationType;
  name: string | null;
  trace: OperationTrace | null;
  startedMs: number;
  upstreamId: string | null;
  sentMs: number;
  /** If it may be a query or mutation: its session slot, and its payer. */
  call: { lease: Lease; payer: PayerEntitlement } | null;
  answered: boolean;
  priced: boolean;
  /** The caller has stopped it or has gone; it gets no further messages. */
  abandoned: boolean;
  /** Resolves when its messages so far are recorded and passed on. */
  relayed: Promise<void>;
};

export type NewOperation = Pick<Operation, 'id' | 'type' | 'name' | 'trace'>;

export function newOperation(operation: NewOperation): Operation {
  return {
    ...operation,
    startedMs: performance.now(),
    upstreamId: null,
    sentMs: Infinity,
    lease: null,
    meter: null,
    call: null,
    answered: false,
    priced: false,
    abandoned: false,
    relayed: NOTHING_HELD,
    ended: false,
  };
}

const NOTHING_HELD = Promise.resolve();

/** An operation of unknown type is held to what either type is held to. */
export const mayBeCall = ({ type }: Pick<Operation, 'type'>): boolean => type !== 'subscription';

export const mayBeSubscription = ({ type }: Pick<Operation, 'type'>): boolean =>
  type === 'subscription' || type === 'unknown';

/** Sent, possibly carried out, and without a price so far. */
export function isUnanswered({ call, upstreamId, answered, ended }: Operation): boolean {
  return call !== null && upstreamId !== null && !answered && !ended;
}

export function isAwaitedCall(operation: Operation): boolean {
  if (operation.abandoned || operation.upstreamId === null) return false;
  return !mayBeSubscription(operation) || isUnanswered(operation);
}

/** A function because the compiler keeps the narrowed type of the member across an await. */
export function hasEnded({ ended }: Operation): boolean {
  return ended;
}
