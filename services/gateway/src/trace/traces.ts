import type { IncomingMessage } from 'node:http';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import { passingSocket } from './socket-trace.ts';
import type { SocketTrace } from './socket-trace.ts';
import { passedOn, traceParentOf } from '@tollgate/trace/context';
import type { TraceParent } from '@tollgate/trace/context';

/** The spans below that of a data call, in order, with their meaning in docs/configuration.md. */
export const TRACED_STEPS = {
  authenticate: 'checks the access token: introspection, from the cache or by auth',
  entitle: "finds the account's state, billing period and limits, from the cache or by account",
  read: 'reads the body and its GraphQL operations',
  admit: 'takes rate and slots, and checks the used-up limits',
  forward: 'sends the call to the data API and its response to the caller; a CLIENT span with the address',
  settle: "waits for Redis to acknowledge the call's usage",
} as const;

export type TracedStep = keyof typeof TRACED_STEPS;

export type CallTrace = {
  /** traceparent and tracestate for the next server, as a flat list. */
  fields: () => string[];
  /** Ends the previous step. */
  begin: (step: TracedStep) => void;
  sendTo: (address: { host: string; port: number }, attempt: number) => void;
  end: (outcome: string, status: number) => void;
};

export type Traces = {
  /** Null if the call is neither recorded nor part of a caller's trace. */
  begin: (req: TracedRequest, requestId: string) => CallTrace | null;
  /** The same for a WebSocket. `gone` must be called when its connection closes. */
  open: (req: TracedRequest, requestId: string) => SocketTrace | null;
  /** The fields of a call or open WebSocket by request id. */
  fieldsOf: (requestId: string) => string[];
  /** Sends what is recorded, within a time limit. */
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
 * Traces of data calls and WebSockets: recorded, or without a recorder a trusted proxy's passed on
 * (docs/design/operations.md).
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
