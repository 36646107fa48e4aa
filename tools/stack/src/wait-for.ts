import { setTimeout as delay } from 'node:timers/promises';

export type WaitOptions = {
  timeoutMs?: number;
  intervalMs?: number;
  what?: string;
};

/** @throws {Error} after timeoutMs (10 s), with the condition's last error as its cause */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 10_000, intervalMs = 25, what = 'the condition to hold' }: WaitOptions = {},
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
      throw new Error(`Waited ${String(timeoutMs)} ms in vain for ${what}.`, { cause });
    }
    await delay(intervalMs);
  }
}
