import { setTimeout as delay } from 'node:timers/promises';

/** Waits until the time has passed or the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
