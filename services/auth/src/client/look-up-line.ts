import { Problem } from '@tollgate/problem';

/** Runs work when it is its turn. @throws {Problem} service_unavailable where too much waits already */
export type InLine = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs so many at one moment, in the order in which they come. */
export function createLine({ concurrency, waitingMax }: { concurrency: number; waitingMax: number }): InLine {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < concurrency) {
      running += 1;
    } else {
      if (waiting.length >= waitingMax) {
        throw new Problem('service_unavailable', { cause: new Error('too many look-ups wait in line') });
      }
      // The next in line takes over the place of the one that is done.
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
