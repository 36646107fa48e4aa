import { AsyncLocalStorage } from 'node:async_hooks';

/** The span of the request that is being handled, while it is traced. */
export type CurrentTrace = {
  traceId: string;
  /** traceparent and tracestate for the next server, as a flat list. */
  fields: () => string[];
  /** Begins a span of a store's client; the returned function ends it. */
  store: (system: 'redis' | 'postgresql', operation: string) => (error?: unknown) => void;
};

const current = new AsyncLocalStorage<CurrentTrace>();

export function currentTrace(): CurrentTrace | undefined {
  return current.getStore();
}

export function withTrace(trace: CurrentTrace, work: () => void): void {
  current.run(trace, work);
}
