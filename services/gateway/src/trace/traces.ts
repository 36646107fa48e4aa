import type { IncomingMessage } from 'node:http';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { passingSocket } from './socket-trace.ts';
import type { SocketTrace } from './socket-trace.ts';
import { passedOn, traceParentOf } from './trace-context.ts';
import type { TraceParent } from './trace-context.ts';

/** What a call's time is spent on. */
export type TracedPart = 'authenticate' | 'entitle' | 'admit' | 'forward' | 'settle';

/** One call as it is traced. */
export type CallTrace = {
  /** traceparent and tracestate for whoever is asked next, as a flat list. */
  fields: () => string[];
  /** A part begins; the one before has ended. */
  begin: (part: TracedPart) => void;
  /** The call goes to this address of the upstream. */
  sendTo: (address: { host: string; port: number }, attempt: number) => void;
  end: (outcome: string, status: number) => void;
};

export type Traces = {
  /** Begins a call's trace; null where it isn't recorded and continues none: nothing is to be done for it. */
  begin: (req: TracedRequest, requestId: string) => CallTrace | null;
  /** Begins a WebSocket's trace; null likewise. `gone` has to be called when its connection is. */
  open: (req: TracedRequest, requestId: string) => SocketTrace | null;
  /** The fields of a call under way, or of an open WebSocket, by its request id. */
  fieldsOf: (requestId: string) => string[];
  /** Sends what is recorded; takes no longer than a collector that is away may take. */
  close: () => Promise<void>;
};

export type TracedRequest = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders' | 'httpVersion'> & {
  socket: { remoteAddress?: string | undefined };
};

export type Recorder = {
  begin: (req: TracedRequest, requestId: string, parent: TraceParent | null) => CallTrace;
  open: (req: TracedRequest, requestId: string, parent: TraceParent | null) => SocketTrace;
  close: () => Promise<void>;
};

/**
 * Traces of data calls and WebSockets: recorded where there is a recorder; without one, a trusted proxy's trace is
 * passed on (ADR 0024).
 */
export function createTraces(trusts: TrustsAddress, recorder: Recorder | null): Traces {
  const underWay = new Map<string, Pick<CallTrace, 'fields'>>();
  const parentOf = (req: TracedRequest) =>
    trusts(req.socket.remoteAddress) ? traceParentOf(req.rawHeaders) : null;
  return {
    begin: (req, requestId) => {
      const parent = parentOf(req);
      if (recorder === null && parent === null) return null;
      const trace = recorder?.begin(req, requestId, parent) ?? passing(parent, requestId);
      underWay.set(requestId, trace);
      return {
        ...trace,
        end: (outcome, status) => {
          underWay.delete(requestId);
          trace.end(outcome, status);
        },
      };
    },
    open: (req, requestId) => {
      const parent = parentOf(req);
      if (recorder === null && parent === null) return null;
      const trace = recorder?.open(req, requestId, parent) ?? passingSocket(passedOn(parent, requestId));
      underWay.set(requestId, trace);
      return {
        ...trace,
        gone: () => {
          underWay.delete(requestId);
          trace.gone();
        },
      };
    },
    fieldsOf: (requestId) => underWay.get(requestId)?.fields() ?? passedOn(null, requestId),
    close: () => recorder?.close() ?? Promise.resolve(),
  };
}

function passing(parent: TraceParent | null, requestId: string): CallTrace {
  const fields = passedOn(parent, requestId);
  const nothing = () => undefined;
  return { fields: () => fields, begin: nothing, sendTo: nothing, end: nothing };
}
