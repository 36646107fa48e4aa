import { Problem } from '@tollgate/http/problem';
import type { OpenSubscriptions } from '../../metering/open-subscriptions.ts';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { createSettleMessage, priceMessage } from './priced-message.ts';
import type { PricedMessage } from './priced-message.ts';
import { STOPPED } from '../protocol/close-codes.ts';
import { withId } from '../protocol/message.ts';
import { UNRECORDED } from './operation-error.ts';
import { hasEnded } from './operation.ts';
import type { Operation } from './operation.ts';
import { isOfOperation } from '../protocol/protocol.ts';
import type { OperationRelayOptions, RelayedSocket } from './relay-options.ts';
import type { SentOperations } from './sent-operations.ts';
import type { UpstreamMessage } from '../upstream/upstream-socket.ts';

export type RelayMessage = (message: UpstreamMessage, bytes: Buffer) => void;

export function createMessageRelay(
  { record, settlementTimeout, statedPoints, settings, onRelayed }: OperationRelayOptions,
  { principal, protocol, toCaller }: RelayedSocket,
  relay: {
    subscriptions: Pick<OpenSubscriptions<Operation>, 'countPoints' | 'countTraffic' | 'usesPoints'>;
    sent: Pick<SentOperations, 'get' | 'remove' | 'stop'>;
    end: (operation: Operation, end: TracedEnd) => void;
    refuse: (operation: Operation, problem: Problem) => void;
  },
): RelayMessage {
  const { subscriptions, sent } = relay;
  const price = { statedPoints, defaultPoints: settings.defaultPoints };
  const settleMessage = createSettleMessage(record, settlementTimeout, principal.token);

  function pass(operation: Operation, bytes: Buffer, end: TracedEnd | null): void {
    toCaller.send(bytes);
    onRelayed('to_caller', bytes.length);
    if (end !== null) relay.end(operation, end);
  }

  /** Messages of a query or mutation are passed on in order, each when its usage is recorded. */
  function passWhenRecorded(operation: Operation, bytes: Buffer, priced: PricedMessage): void {
    const { end, isFirst, isResult, points } = priced;
    const trafficBytes = operation.abandoned ? 0 : bytes.length;
    const isCounted = isFirst || isResult || points > 0;
    const recorded = isCounted ? settleMessage(operation, priced, trafficBytes) : Promise.resolve(true);
    if (!isCounted) subscriptions.countTraffic(trafficBytes);
    if (points > 0 && operation.meter !== null) subscriptions.usesPoints();
    if (end !== null) sent.remove(operation);
    if (operation.abandoned) {
      sent.stop(operation);
      relay.end(operation, STOPPED);
      return;
    }
    operation.relayed = operation.relayed.then(async () => {
      const isRecorded = await recorded;
      if (hasEnded(operation)) return;
      if (isRecorded) pass(operation, bytes, end);
      else relay.refuse(operation, UNRECORDED);
    });
  }

  return (message, received) => {
    const operation = sent.get(message.id);
    // Late messages of an operation that the caller has ended aren't charged.
    if (operation === undefined || !isOfOperation(message.type, protocol)) return;
    const priced = priceMessage(operation, message, price);
    const bytes = operation.id === message.id ? received : withId(received, operation.id);
    if (bytes === null) {
      void settleMessage(operation, priced, 0);
      relay.refuse(operation, new Problem('upstream_unreachable', { cause: new Error('nested too deeply') }));
    } else if (operation.call !== null) passWhenRecorded(operation, bytes, priced);
    else {
      subscriptions.countPoints(priced.points);
      subscriptions.countTraffic(bytes.length);
      pass(operation, bytes, priced.end);
    }
  };
}
