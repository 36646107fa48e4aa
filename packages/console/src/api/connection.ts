import { useSyncExternalStore } from 'react';

/** `unreachable`: no response comes back. `unavailable`: Tollgate responds that it cannot serve requests now. */
export type ConnectionState = 'connected' | 'offline' | 'unreachable' | 'unavailable';

export type Connection = {
  state: ConnectionState;
  /** When the last response or live event came, by the browser's clock; null before the first one. */
  lastContactMs: number | null;
};

/** A single failure is shown where it happened; several in a row concern every page. */
const FAILURES_IN_A_ROW = 2;

let failures = 0;
let connection: Connection = { state: 'connected', lastContactMs: null };
const listeners = new Set<() => void>();

function set(state: ConnectionState, lastContactMs = connection.lastContactMs): void {
  const isSame = connection.state === state;
  connection = { state, lastContactMs };
  // While figures come in, their time is no news.
  if (!isSame) for (const listener of listeners) listener();
}

/** Tollgate has answered a request or sent a live event. */
export function noteContact(): void {
  failures = 0;
  if (navigator.onLine) set('connected', Date.now());
}

/** A request has failed: without a response, or with 502 to 504. */
export function noteFailure(state: 'unreachable' | 'unavailable'): void {
  failures += 1;
  if (navigator.onLine && failures >= FAILURES_IN_A_ROW) set(state);
}

export function noteStatus(status: number): void {
  if (status >= 502 && status <= 504) noteFailure('unavailable');
  else noteContact();
}

window.addEventListener('offline', () => {
  set('offline');
});

// Whether Tollgate can be reached again, the next request shows.
window.addEventListener('online', () => {
  failures = FAILURES_IN_A_ROW;
  set('unreachable');
});

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    () => connection,
  );
}
