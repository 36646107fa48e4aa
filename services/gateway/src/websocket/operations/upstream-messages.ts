import type { Problem } from '@tollgate/http/problem';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import type { Subscription } from '../../streams/open-subscriptions.ts';
import type { PendingBytes } from '../connection/pending-bytes.ts';
import { STOPPED } from '../protocol/close-codes.ts';
import { withId } from '../protocol/message.ts';
import { isOfOperation } from '../protocol/protocol.ts';
import type { Protocol } from '../protocol/protocol.ts';
import type { UpstreamMessage } from '../upstream/upstream-socket.ts';
import { hasEnded } from './open-operations.ts';
import type { OpenOperations, Operation } from './open-operations.ts';
import { UNRECORDED } from './operation-error.ts';
import { priceMessage } from './priced-message.ts';
import type { PricedMessage, Pricing, SettleMessage } from './priced-message.ts';

export type UpstreamMessagesOptions = {
  operations: Pick<
    OpenOperations,
    'ofUpstream' | 'subscriptions' | 'chargeEvent' | 'answered' | 'priced' | 'countUnstated' | 'completed'
  >;
  protocol: Protocol;
  pricing: Pricing;
  settle: SettleMessage;
  /** Of messages that wait. */
  pendingBytes: PendingBytes;
  pass: (bytes: Buffer) => void;
  refuse: (operation: Operation, problem: Problem) => void;
  end: (operation: Operation, end: TracedEnd) => void;
  /** At the upstream, too. */
  stop: (operation: Operation) => void;
};

const NOTHING_TO_RECORD = Promise.resolve(null);

/** Charges for the upstream's messages and passes them on to the caller, each operation's in their order. */
export function createUpstreamMessages(options: UpstreamMessagesOptions) {
  const { operations, protocol, pricing, settle, pendingBytes, pass, refuse, end } = options;
  const { subscriptions } = operations;
  /** By operation whose messages wait until they are recorded: resolves when those so far are passed on. */
  const passedOn = new WeakMap<Operation, Promise<void>>();

  function finish(operation: Operation, bytes: Buffer, how: TracedEnd | null): void {
    pass(bytes);
    if (how !== null) end(operation, how);
  }

  /** Unless it must not be: `recorded` tells why. */
  function passWhen(
    recorded: Promise<Problem | null>,
    operation: Operation,
    bytes: Buffer,
    how: TracedEnd | null,
  ): void {
    if (how !== null) operations.completed(operation);
    pendingBytes.add(bytes.length);
    const before = passedOn.get(operation) ?? Promise.resolve();
    const passed = before.then(async () => {
      const refusal = await recorded;
      pendingBytes.remove(bytes.length);
      if (hasEnded(operation)) return;
      if (refusal === null) finish(operation, bytes, how);
      else refuse(operation, refusal);
    });
    passedOn.set(operation, passed);
  }

  /** Messages of a query or mutation are passed on when their usage is recorded. */
  function passResult(operation: Operation, bytes: Buffer, priced: PricedMessage): void {
    const { isFirst, isResult, points, end: how } = priced;
    const isCounted = isFirst || isResult || points > 0;
    if (!isCounted) subscriptions.countTraffic(operation.counted, bytes.length);
    const recorded = isCounted
      ? settle(operation, priced, bytes.length).then((isRecorded) => (isRecorded ? null : UNRECORDED))
      : NOTHING_TO_RECORD;
    passWhen(recorded, operation, bytes, how);
  }

  /** So are events that cost points, if the payer's are strict. */
  function passEvent(
    operation: Operation,
    subscription: Subscription | null,
    bytes: Buffer,
    { points, end: how }: PricedMessage,
  ): void {
    if (subscription !== null && points > 0 && subscriptions.principal.payer.reservesPoints) {
      const used = { points, trafficBytes: bytes.length };
      passWhen(operations.chargeEvent(subscription, used), operation, bytes, how);
      return;
    }
    subscriptions.countPoints(operation.counted, points);
    subscriptions.countTraffic(operation.counted, bytes.length);
    // Not before those that wait.
    if (passedOn.has(operation)) passWhen(NOTHING_TO_RECORD, operation, bytes, how);
    else finish(operation, bytes, how);
  }

  return (message: UpstreamMessage, received: Buffer): void => {
    const operation = operations.ofUpstream(message.id);
    // Late messages of an operation that the caller has ended aren't charged.
    if (operation === undefined || !isOfOperation(message.type, protocol)) return;
    const priced = priceMessage(operation, message, pricing);
    const { call, subscription } = operation;
    if (priced.points > 0 && call !== null && subscription !== null) subscriptions.usesPoints();
    if (operation.state === 'abandoned') {
      void settle(operation, priced, 0);
      if (priced.end === null) options.stop(operation);
      else end(operation, STOPPED);
      return;
    }
    if (priced.isOfWhole) operations.priced(operation);
    operations.countUnstated(operation, priced.unstatedPoints);
    if (operation.state === 'sent') operations.answered(operation);
    const bytes = operation.id === message.id ? received : withId(received, operation.id);
    if (call === null) passEvent(operation, subscription, bytes, priced);
    else passResult(operation, bytes, priced);
  };
}
