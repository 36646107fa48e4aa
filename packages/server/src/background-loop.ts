import { setTimeout as delay } from 'node:timers/promises';

export type BackgroundLoop = {
  /** Runs at once, or right after the present run. */
  wake: () => void;
  signal: AbortSignal;
  /** Aborts the signal, and waits until the present run has ended. */
  close: () => Promise<void>;
};

/**
 * Work that a process repeats until it ends: `run` starts after the first rest, by default at once, and again after each
 * rest, whose length in ms it returns; 0 means no rest. Long runs look at the signal between their steps. A run handles
 * its own errors: one that it throws ends the process, as an unhandled rejection.
 */
export function startLoop(
  run: (signal: AbortSignal) => Promise<number>,
  { firstRestMs = 0 }: { firstRestMs?: number } = {},
): BackgroundLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let resting = new AbortController();

  const rest = (ms: number) => pause(ms, AbortSignal.any([signal, resting.signal]));

  async function repeat(): Promise<void> {
    if (firstRestMs > 0) await rest(firstRestMs);
    while (!signal.aborted) {
      resting = new AbortController();
      const restMs = await run(signal);
      if (restMs > 0) await rest(restMs);
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

/**
 * Rounds of work an interval apart, the first after a random part of it: processes that start together, as in a rolling
 * update, neither do this work at their start nor all at once.
 */
export function startRounds(
  intervalMs: number,
  run: (signal: AbortSignal) => Promise<void>,
): Pick<BackgroundLoop, 'close'> {
  const round = async (signal: AbortSignal) => {
    await run(signal);
    return intervalMs;
  };
  return startLoop(round, { firstRestMs: Math.random() * intervalMs });
}

/** Waits until the time has passed or the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
