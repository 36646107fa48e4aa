import { setTimeout as delay } from 'node:timers/promises';

export type BackgroundLoop = {
  /** Runs at once, or right after the present run. */
  wake: () => void;
  signal: AbortSignal;
  /** Aborts the signal, and waits until the present run has ended. */
  close: () => Promise<void>;
};

/**
 * Work that a process repeats until it ends: `run` starts at once, and again after each rest, whose length in ms it
 * returns; 0 means no rest. Long runs look at the signal between their steps. A run handles its own errors: one that it
 * throws ends the process, as an unhandled rejection.
 */
export function startLoop(run: (signal: AbortSignal) => Promise<number>): BackgroundLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let resting = new AbortController();

  async function repeat(): Promise<void> {
    while (!signal.aborted) {
      resting = new AbortController();
      const restMs = await run(signal);
      if (restMs > 0) await pause(restMs, AbortSignal.any([signal, resting.signal]));
    }
  }

  const running = repeat();
  return {
    wake: () => {
      resting.abort();
    },
    signal,
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Waits until the time has passed or the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
