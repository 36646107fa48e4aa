import { Problem } from '@tollgate/http/problem';
import { createSingleFlight } from './single-flight.ts';

/** While nothing uses a cache, nothing need be proven for it (docs/design/operations.md). */
export type CacheRest = {
  /** By performance.now(). */
  lastUsedMs: () => number;
  /** `get` returns nothing until `trustUntil` is called, for which `wake` asks; what is kept stays valid. */
  begin: (wake: () => Promise<void>) => void;
  /** A promise if `get` may return something once it has resolved. */
  end: () => Promise<void> | undefined;
};

/** See docs/design/revocation.md. */
export type EventCache<Key, Context, Value, Event> = {
  /** Without I/O; undefined if the value has to be loaded. `nowMs` is of performance.now(). */
  get: (key: Key, nowMs?: number) => Value | undefined;
  /**
   * Loads the value, or joins the load under way. Failures reach all callers and aren't kept.
   * @throws {Problem} (its promise) service_unavailable where events made every answer stale
   */
  load: (key: Key, context: Context) => Promise<Value>;
  /** Stale values and stale answers under way are not used any more. */
  invalidate: (event: Event) => void;
  /** Events may have been missed: nothing kept or under way is used any more. */
  clear: () => void;
  /** Until then (performance.now()) no event can have been missed. After a gap, call `clear` first. */
  trustUntil: (timeMs: number) => void;
  /** True also in a rest, which this ends. */
  isTrusted: () => boolean;
  rest: CacheRest;
};

export type Load<Key, Context> = {
  key: Key;
  context: Context;
  /** When it began (performance.now()): durations of the answer count from here, so transit doesn't extend them. */
  startedMs: number;
};

export type EventCacheOptions<Key, Context, Answer, Value, Event> = {
  /** Must be bounded, as grouped-store.ts is. */
  store: { get: (key: Key, nowMs: number) => Value | undefined; clear: () => void };
  load: (key: Key, context: Context) => Promise<Answer>;
  /** Makes a fresh answer's value, and sets it in the store if it may be kept. */
  keep: (answer: Answer, load: Load<Key, Context>) => Value;
  apply: (event: Event) => void;
  /** Whether an event that came during the load makes its answer stale. */
  isStale: (answer: Answer, event: Event, load: Load<Key, Context>) => boolean;
  onLookup?: ((outcome: 'joined' | 'miss') => void) | undefined;
};

/** Events can make each answer stale; loading ends sometime. */
const ATTEMPTS = 3;

const CLEARED = Symbol('cleared');

/** Events in order. A load keeps the one before it, so that older ones are garbage and none is copied per load. */
type LoggedEvent<Event> = { event: Event | typeof CLEARED; next: LoggedEvent<Event> | undefined };

export function createEventCache<Key, Context, Answer, Value, Event>(
  options: EventCacheOptions<Key, Context, Answer, Value, Event>,
): EventCache<Key, Context, Value, Event> {
  const { store, keep, apply, isStale } = options;
  const singleFlight = createSingleFlight<Key, Value>(options.onLookup);
  let lastEvent: LoggedEvent<Event> = { event: CLEARED, next: undefined };
  let trustedUntilMs = 0;
  let usedMs = 0;
  let wake: (() => Promise<void>) | undefined;

  function log(event: Event | typeof CLEARED): void {
    const logged: LoggedEvent<Event> = { event, next: undefined };
    lastEvent.next = logged;
    lastEvent = logged;
  }

  async function loadCurrent(key: Key, context: Context): Promise<Value> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const before = lastEvent;
      const load = { key, context, startedMs: performance.now() };
      const answer = await options.load(key, context);
      if (!isOvertaken(before, (event) => isStale(answer, event, load))) return keep(answer, load);
    }
    throw new Problem('service_unavailable', { cause: new Error('changes came during every request') });
  }

  return {
    get: (key, nowMs = performance.now()) => {
      usedMs = nowMs;
      return nowMs < trustedUntilMs ? store.get(key, nowMs) : undefined;
    },
    load: (key, context) => singleFlight(key, () => loadCurrent(key, context)),
    invalidate: (event) => {
      apply(event);
      log(event);
    },
    clear: () => {
      store.clear();
      log(CLEARED);
    },
    trustUntil: (timeMs) => {
      trustedUntilMs = timeMs;
      wake = undefined;
    },
    isTrusted: () => {
      if (wake !== undefined) {
        void wake();
        return true;
      }
      usedMs = performance.now();
      return usedMs < trustedUntilMs;
    },
    rest: {
      lastUsedMs: () => usedMs,
      begin: (wakeUp) => {
        trustedUntilMs = 0;
        wake = wakeUp;
      },
      end: () => wake?.(),
    },
  };
}

function isOvertaken<Event>(before: LoggedEvent<Event>, isStale: (event: Event) => boolean): boolean {
  for (let logged = before.next; logged !== undefined; logged = logged.next) {
    if (logged.event === CLEARED || isStale(logged.event)) return true;
  }
  return false;
}
