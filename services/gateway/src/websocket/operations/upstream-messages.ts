import type { Problem } from '@tollgate/http/problem';
import type { TracedEnd } from '../../trace/socket-trace.ts';
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
  operations: Pick<OpenOperations, 'ofUpstream' | 'subscriptions' | 'answered' | 'priced' | 'completed'>;
  protocol: Protocol;
  pricing: Pricing;
  settle: SettleMessage;
  pass: (bytes: Buffer) => void;
  refuse: (operation: Operation, problem: Problem) => void;
  end: (operation: Operation, end: TracedEnd) => void;
  /** At the upstream, too. */
  stop: (operation: Operation) => void;
};

/** Charges for the upstream's messages and passes them on to the caller, each operation's in their order. */
export function createUpstreamMessages(options: UpstreamMessagesOptions) {
  const { operations, protocol, pricing, settle, pass, refuse, end } = options;
  const { subscriptions } = operations;
  /** By query or mutation: resolves when its messages so far are recorded and passed on. */
  const passedOn = new WeakMap<Operation, Promise<void>>();

  function finish(operation: Operation, bytes: Buffer, how: TracedEnd | null): void {
    pass(bytes);
    if (how !== null) end(operation, how);
  }

  /** Messages of a query or mutation are passed on when their usage is recorded. */
  function passWhenRecorded(operation: Operation, bytes: Buffer, priced: PricedMessage): void {
    const { isFirst, isResult, points } = priced;
    const isCounted = isFirst || isResult || points > 0;
    const recorded = isCounted ? settle(operation, priced, bytes.length) : Promise.resolve(true);
    if (!isCounted) subscriptions.countTraffic(bytes.length);
    if (priced.end !== null) operations.completed(operation);
    const before = passedOn.get(operation) ?? Promise.resolve();
    const passed = before.then(async () => {
      const isRecorded = await recorded;
      if (hasEnded(operation)) return;
      if (isRecorded) finish(operation, bytes, priced.end);
      else refuse(operation, UNRECORDED);
    });
    passedOn.set(operation, passed);
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
    if (operation.state === 'sent') operations.answered(operation);
    const bytes = operation.id === message.id ? received : withId(received, operation.id);
    if (call !== null) passWhenRecorded(operation, bytes, priced);
    else {
      subscriptions.countPoints(priced.points);
      subscriptions.countTraffic(bytes.length);
      finish(operation, bytes, priced.end);
    }
  };
}
