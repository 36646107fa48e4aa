/** How something ended, as its span tells it. */
export type TracedEnd = {
  /** One of few words, or an error code. */
  outcome: string;
  /** Whether the gateway or the upstream failed at it; a caller's own fault is no error, as with a call. */
  failed: boolean;
  /** Where its socket ended with it. */
  closeCode?: number;
};

/** A connection to the upstream, until the upstream has acknowledged connection_init. */
export type ConnectTrace = {
  /** traceparent and tracestate for the upstream, as a flat list. */
  fields: () => string[];
  /** The first end counts. */
  end: (end: TracedEnd) => void;
};

/** An operation, from its start to its end. */
export type OperationTrace = {
  /** A part begins; the one before has ended. */
  begin: (part: 'admit' | 'forward') => void;
  end: (end: TracedEnd) => void;
};

/** One WebSocket as it is traced, from its upgrade request to its close. */
export type SocketTrace = {
  /** traceparent and tracestate for whoever is asked next, as a flat list. */
  fields: () => string[];
  /** A part of finding out who calls begins; the one before has ended. */
  begin: (part: 'authenticate' | 'entitle') => void;
  /** It is known who calls: the last of these parts has ended. */
  identified: () => void;
  /** The upgrade request is answered: accepted with 101, or refused. */
  answered: (outcome: string, status: number) => void;
  /** A connection to the upstream is opened; `attempt` counts from 1. */
  connect: (url: string, attempt: number) => ConnectTrace;
  /** An operation begins; `name` is what its caller sent as operationName. */
  operation: (name: unknown) => OperationTrace;
  /** The socket ends. */
  closed: (end: TracedEnd) => void;
  /** Its connection is gone, perhaps before the upgrade request was answered. */
  gone: () => void;
};

/** A trace that is passed on and not recorded. */
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
