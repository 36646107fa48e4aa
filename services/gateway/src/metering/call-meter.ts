import { toProblem } from '@tollgate/http/problem';
import type { AdmissionKind } from '../admission/admit-script.ts';
import type { Lease } from '../admission/leases.ts';
import { isMultipart, isSubscriptionStream } from '../forward/answer/answer-fields.ts';
import type { AnswerMeter } from '../forward/answer/relay.ts';
import { acknowledgedInTime } from './settlement/settle-call.ts';
import type { SettlementTimeout, SettleCall } from './settlement/settle-call.ts';
import { openStreamMeter } from './stream-meter.ts';
import type { OpenStream, StreamMeter, StreamMeterOptions } from './stream-meter.ts';

type MeteredCall = Pick<
  OpenStream,
  'token' | 'payer' | 'apiVersion' | 'lease' | 'admit' | 'recheck' | 'watchToken'
>;

/** Meters one call's response: at its end, or while it is open if it is a stream. */
export type CallMeter = (kind: AdmissionKind, call: MeteredCall) => AnswerMeter;

export function createCallMeter(
  settle: SettleCall,
  options: StreamMeterOptions & SettlementTimeout,
): CallMeter {
  return (kind, call) => {
    let open: StreamMeter | undefined;
    return {
      // Multipart in response to a call is a query with @defer.
      isOpenStream: (headers) =>
        isSubscriptionStream(headers) || (kind === 'subscription' && isMultipart(headers)),
      begin: ({ points, trafficBytes, cut }) => {
        const lease = kind === 'subscription' ? call.lease : streamSlot(call, cut);
        open = openStreamMeter(options, { ...call, lease, points, trafficBytes, onRefused: cut });
      },
      end: (usage) => (open === undefined ? settle(call, usage) : acknowledgedInTime(open.end(), options)),
    };
  };
}

// A stream that the upstream chose keeps the call's slot until it gets a subscription's. Without one it is cut, or
// such callers would exceed the plan's subscriptions.
function streamSlot({ payer, lease, admit }: MeteredCall, onRefused: OpenStream['onRefused']): Lease {
  let slot = lease;
  let over = false;
  admit(payer, 'subscription').then(
    (admitted) => {
      if (over) {
        admitted.lease.release();
        return;
      }
      slot.release();
      slot = admitted.lease;
    },
    (error: unknown) => {
      if (!over) onRefused(toProblem(error));
    },
  );
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
