import { setTimeout as delay } from 'node:timers/promises';

export type WaitOptions = {
  timeoutMs?: number;
  /** Without it, the condition is looked at less and less often: what looks costs what it waits for its time. */
  intervalMs?: number;
  /** A function's answer is of the moment of the failure. */
  what?: string | (() => string);
};

/** The default times between two looks: a tenth of the time that has passed, within these. */
const INTERVAL_MS = { least: 20, most: 250 };

/** @throws {Error} after timeoutMs (a minute by default), with the condition's last error as its cause */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs, what = 'the condition to hold' }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= deadline) {
      const missing = typeof what === 'string' ? what : what();
      throw new Error(`Waited ${String(timeoutMs)} ms in vain for ${missing}.`, { cause });
    }
    await delay(intervalMs ?? intervalAfter(performance.now() - startedAt));
  }
}

/** What is between two looks once the waiting has taken so long, in milliseconds. */
export function intervalAfter(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, INTERVAL_MS.least), INTERVAL_MS.most);
}
