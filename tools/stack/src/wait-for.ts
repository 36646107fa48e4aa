import { setTimeout as delay } from 'node:timers/promises';

export type WaitOptions = {
  timeoutMs?: number;
  intervalMs?: number;
  /** A function's answer is of the moment of the failure. */
  what?: string | (() => string);
};

/** @throws {Error} after timeoutMs (a minute by default), with the condition's last error as its cause */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 25, what = 'the condition to hold' }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
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
    await delay(intervalMs);
  }
}
