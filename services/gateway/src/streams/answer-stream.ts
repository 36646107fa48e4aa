import { toProblem } from '@tollgate/http/problem';
import type { Lease } from '../ledger/leases.ts';
import type { OperationType } from '../operation-reader/document-types.ts';
import type { OpenAnswer } from '../pipeline/forward/answer/answer.ts';
import { openStreamMeter } from './stream-meter.ts';
import type { OpenStream, StreamMeter, StreamMeterOptions } from './stream-meter.ts';

type StreamedCall = Omit<OpenStream, 'points' | 'trafficBytes' | 'onRefused'>;

/** Meters a subscription's stream from when it goes on to the caller; `type` is that of the call's operation. */
export type MeterStream = (type: OperationType, call: StreamedCall, open: OpenAnswer) => StreamMeter;

export function createMeterStream(options: StreamMeterOptions): MeterStream {
  const { pointsPerMinute } = options;
  return (type, call, { points, trafficBytes, cut }) => {
    const lease = type === 'subscription' ? call.lease : streamSlot(call, pointsPerMinute, cut);
    return openStreamMeter(options, { ...call, lease, points, trafficBytes, onRefused: cut });
  };
}

// An operation of unknown type that turns out to be a subscription keeps the call's slot until it gets a
// subscription's. Without one it is cut, or such callers would exceed the plan's subscriptions.
function streamSlot(
  { payer, lease, admit }: StreamedCall,
  pointsPerMinute: number,
  onRefused: OpenStream['onRefused'],
): Lease {
  let slot = lease;
  let over = false;
  const takeSlot = async () => {
    try {
      const admitted = await admit(payer, 'subscription', 1, pointsPerMinute);
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
