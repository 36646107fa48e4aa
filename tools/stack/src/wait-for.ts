import { setTimeout as delay } from 'node:timers/promises';

export type WaitOptions = {
  timeoutMs?: number;
  intervalMs?: number;
  /** Names what is waited for in the error, for instance "Redis to answer". */
  what?: string;
};

/**
 * Asks again and again until the condition gives something truthy, and returns that. A condition that throws
 * counts as "not yet"; the last error is the cause of the one thrown at the deadline.
 *
 * @throws {Error} when timeoutMs (10 s) have passed.
 */
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
