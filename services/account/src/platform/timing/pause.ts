import { setTimeout as delay } from 'node:timers/promises';

/** Waits, and no longer than until the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
