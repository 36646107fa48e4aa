import { setTimeout as delay } from 'node:timers/promises';

const RESTING_INTERVAL_MS = 5_000;

/** How long the use that ends a rest waits at most. */
const WAKE_TIMEOUT_MS = 500;

export type Rounds = {
  /** Begins a round at once, and ends a rest. */
  start: () => void;
  /** Resolves after a round, or if that takes too long. */
  wake: () => Promise<void>;
  isResting: () => boolean;
  close: () => void;
};

/** Runs `prove` at an interval, never twice at the same time. After a round that `mayRest`, it is run less often. */
export function createRounds(options: {
  prove: () => Promise<void>;
  intervalMs: number;
  mayRest: () => boolean;
  onRest: () => void;
}): Rounds {
  const { prove, intervalMs, mayRest, onRest } = options;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let resting = false;
  let closed = false;

  function round(): Promise<void> {
    running ??= prove().finally(() => {
      running = undefined;
    });
    return running;
  }

  function next(afterMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(start, afterMs).unref();
  }

  function restIfUnused(): void {
    if (closed || !mayRest()) return;
    resting = true;
    next(RESTING_INTERVAL_MS);
    onRest();
  }

  function start(): void {
    resting = false;
    if (closed) return;
    next(intervalMs);
    void round().then(restIfUnused);
  }

  return {
    start,
    wake: async () => {
      if (resting) start();
      await Promise.race([round(), delay(WAKE_TIMEOUT_MS, undefined, { ref: false })]);
    },
    isResting: () => resting,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
