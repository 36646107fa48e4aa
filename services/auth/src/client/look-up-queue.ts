import { Problem } from '@tollgate/http/problem';

/** Runs work when a slot is free. @throws {Problem} service_unavailable if the queue is full */
type RunQueued = <T>(work: () => Promise<T>) => Promise<T>;

/** First come, first served. */
export function createLookUpQueue(limits: { concurrency: number; waitingMax: number }): RunQueued {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < limits.concurrency) {
      running += 1;
    } else {
      if (waiting.length >= limits.waitingMax) {
        throw new Problem('service_unavailable', { cause: new Error('too many look-ups are queued') });
      }
      // The finished look-up hands over its slot.
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
