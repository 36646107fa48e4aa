export type TracedEnd = {
  /** A word, or an error code. */
  outcome: string;
  /** Whether the gateway or the upstream failed, not the caller. */
  failed: boolean;
  closeCode?: number;
};

/** A connection to the upstream, until connection_ack. */
export type ConnectTrace = {
  fields: () => string[];
  /** The first end counts. */
  end: (end: TracedEnd) => void;
};

export type OperationTrace = {
  begin: (step: 'admit' | 'forward') => void;
  end: (end: TracedEnd) => void;
};

export type SocketTrace = {
  /** traceparent and tracestate for the next server, as a flat list. */
  fields: () => string[];
  /** Ends the previous step. */
  begin: (step: 'authenticate' | 'entitle') => void;
  /** Ends the last step. */
  identified: () => void;
  answered: (outcome: string, status: number) => void;
  /** `attempt` counts from 1. */
  connect: (url: string, attempt: number) => ConnectTrace;
  /** `name` is the caller's operationName. */
  operation: (name: unknown) => OperationTrace;
  closed: (end: TracedEnd) => void;
  /** Its connection has closed, perhaps before a response to the upgrade. */
  gone: () => void;
};

export function passingSocket(passedOn: string[]): SocketTrace {
  const fields = () => passedOn;
  return {
    fields,
    begin: nothing,
    identified: nothing,
    answered: nothing,
    connect: () => ({ fields, end: nothing }),
    operation: () => NO_OPERATION,
    closed: nothing,
    gone: nothing,
  };
}

const nothing = () => undefined;
const NO_OPERATION: OperationTrace = { begin: nothing, end: nothing };
