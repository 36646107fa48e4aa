import { Problem } from '@tollgate/http/problem';
import { tooManyRequests } from './too-many-requests.ts';

/**
 * Runs work when a slot is free.
 * @throws {Problem} too_many_requests if too much of the holder waits; service_unavailable if the queue is full
 */
export type RunQueued = <T>(holder: string, work: () => Promise<T>) => Promise<T>;

/** A slot is free in milliseconds. */
const RETRY_AFTER_MS = 1_000;

/** Holders take turns, and each one's own work is first come, first served: no one waits behind another's flood. */
export function createLookUpQueue(limits: {
  concurrency: number;
  waitingMax: number;
  waitingPerHolderMax: number;
}): RunQueued {
  /** In the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let waitingCount = 0;
  let running = 0;

  function wait(holder: string): Promise<void> {
    const own = waiting.get(holder) ?? [];
    if (own.length >= limits.waitingPerHolderMax) throw tooManyRequests(RETRY_AFTER_MS);
    if (waitingCount >= limits.waitingMax) {
      throw new Problem('service_unavailable', { cause: new Error('too many look-ups are queued') });
    }
    waiting.set(holder, own);
    waitingCount += 1;
    return new Promise<void>((resolve) => own.push(resolve));
  }

  /** The finished look-up hands over its slot. */
  function handOver(): void {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    const [holder, own] = next;
    const start = own.shift();
    waiting.delete(holder);
    if (own.length > 0) waiting.set(holder, own);
    waitingCount -= 1;
    start?.();
  }

  return async (holder, work) => {
    if (running < limits.concurrency) running += 1;
    else await wait(holder);
    try {
      return await work();
    } finally {
      handOver();
    }
  };
}
