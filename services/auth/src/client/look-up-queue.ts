import { Problem } from '@tollgate/http/problem';

/** Runs work when it is its turn. @throws {Problem} service_unavailable where too much waits already */
type RunQueued = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs so many at one moment, in the order in which they come. */
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
      // The next one takes over the slot of the one that is done.
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
