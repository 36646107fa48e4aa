import { toProblem } from '@tollgate/http/problem';
import type { Lease } from '../ledger/leases.ts';
import { isDocument, isSubscriptionStream } from '../pipeline/forward/answer/answer-fields.ts';
import type { AnswerMeter } from '../pipeline/forward/answer/answer.ts';
import type { Operations } from '../operation-reader/operation-reader.ts';
import { acknowledgedInTime } from '../pipeline/settle/settle-call.ts';
import type { SettlementTimeout, SettleCall } from '../pipeline/settle/settle-call.ts';
import { openStreamMeter } from './stream-meter.ts';
import type { OpenStream, StreamMeter, StreamMeterOptions } from './stream-meter.ts';

type MeteredCall = Pick<
  OpenStream,
  'token' | 'payer' | 'apiVersion' | 'lease' | 'admit' | 'recheck' | 'watchToken'
>;

/** Meters one call's response: at its end, or while it is open if it is a stream. */
export type CallMeter = (operations: Pick<Operations, 'type'>, call: MeteredCall) => AnswerMeter;

export function createCallMeter(
  settle: SettleCall,
  options: StreamMeterOptions & SettlementTimeout,
): CallMeter {
  return ({ type }, call) => {
    let open: StreamMeter | undefined;
    return {
      // The operation decides: events and parts can also be those of a query.
      isOpenStream: (headers) =>
        type === 'subscription' ? !isDocument(headers) : type === 'unknown' && isSubscriptionStream(headers),
      begin: ({ points, trafficBytes, cut }) => {
        const lease = type === 'subscription' ? call.lease : streamSlot(call, cut);
        open = openStreamMeter(options, { ...call, lease, points, trafficBytes, onRefused: cut });
      },
      end: (usage) => (open === undefined ? settle(call, usage) : acknowledgedInTime(open.end(), options)),
    };
  };
}

// An operation of unknown type that turns out to be a subscription keeps the call's slot until it gets a
// subscription's. Without one it is cut, or such callers would exceed the plan's subscriptions.
function streamSlot({ payer, lease, admit }: MeteredCall, onRefused: OpenStream['onRefused']): Lease {
  let slot = lease;
  let over = false;
  const takeSlot = async () => {
    try {
      const admitted = await admit(payer, 'subscription', 1);
      if (over) {
        admitted.lease.release();
        return;
      }
      slot.release();
      slot = admitted.lease;
    } catch (error) {
      if (!over) onRefused(toProblem(error));
    }
  };
  void takeSlot();
  const end = () => {
    over = true;
    return slot;
  };
  return {
    release: () => {
      end().release();
    },
    handOver: () => end().handOver(),
  };
}
