import { Problem } from '@tollgate/http/problem';
import type { TracedEnd } from '../../trace/socket-trace.ts';
import { createRecordAnswer, readAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { STOPPED } from '../ending.ts';
import { withId } from '../message.ts';
import { UNRECORDED } from './operation-error.ts';
import { hasEnded } from './operation.ts';
import type { Operation } from './operation.ts';
import type { Operations } from './operations.ts';
import { isOfOperation } from '../protocol.ts';
import type { OperationRelayParts, RelayedSocket } from './relay-parts.ts';
import type { SentOperations } from './sent-operations.ts';
import type { UpstreamMessage } from '../upstream/upstream-link.ts';

/** Meters a message of the upstream, with the bytes that it came as, and passes it on to the caller. */
export type PassAnswer = (said: UpstreamMessage, bytes: Buffer) => void;

export function createPassAnswer(
  { record, settlementTimeout, statedPoints, settings, onRelayed }: OperationRelayParts,
  { identity, protocol, toCaller }: RelayedSocket,
  relay: {
    operations: Pick<Operations, 'countPoints' | 'countTraffic' | 'usesPoints'>;
    sent: Pick<SentOperations, 'get' | 'remove' | 'stop'>;
    end: (operation: Operation, end: TracedEnd) => void;
    refuse: (operation: Operation, problem: Problem) => void;
  },
): PassAnswer {
  const { operations, sent } = relay;
  const price = { statedPoints, defaultPoints: settings.defaultPoints };
  const recordAnswer = createRecordAnswer(record, settlementTimeout, identity.active);

  function pass(operation: Operation, message: Buffer, end: TracedEnd | null): void {
    toCaller.send(message);
    onRelayed('to_caller', message.length);
    if (end !== null) relay.end(operation, end);
  }

  /** An answer to a query or mutation goes on when it is recorded, its messages in the order in which they came. */
  function passRecorded(operation: Operation, message: Buffer, answer: Answer): void {
    const { end, isFirst, isResult, points } = answer;
    const trafficBytes = operation.abandoned ? 0 : message.length;
    const isCounted = isFirst || isResult || points > 0;
    const recorded = isCounted ? recordAnswer(operation, answer, trafficBytes) : Promise.resolve(true);
    if (!isCounted) operations.countTraffic(trafficBytes);
    if (points > 0 && operation.meter !== null) operations.usesPoints();
    if (end !== null) sent.remove(operation);
    if (operation.abandoned) {
      sent.stop(operation);
      relay.end(operation, STOPPED);
      return;
    }
    operation.passedOn = operation.passedOn.then(async () => {
      const isRecorded = await recorded;
      if (hasEnded(operation)) return;
      if (isRecorded) pass(operation, message, end);
      else relay.refuse(operation, UNRECORDED);
    });
  }

  return (said, bytes) => {
    const operation = sent.get(said.id);
    // What the caller has ended already; it isn't charged for what was still on its way.
    if (operation === undefined || !isOfOperation(said.type, protocol)) return;
    const answer = readAnswer(operation, said, price);
    const message = operation.id === said.id ? bytes : withId(bytes, operation.id);
    if (message === null) {
      void recordAnswer(operation, answer, 0);
      relay.refuse(operation, new Problem('upstream_unreachable', { cause: new Error('nested too deep') }));
    } else if (operation.call !== null) passRecorded(operation, message, answer);
    else {
      operations.countPoints(answer.points);
      operations.countTraffic(message.length);
      pass(operation, message, answer.end);
    }
  };
}
