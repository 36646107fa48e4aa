import type { DueWatch } from './due-watch.ts';
import type { Notices } from './notices.ts';

/** How workers hear of work. A process has one, if it runs workers. */
export type Background = { dueWatch: DueWatch; notices: Pick<Notices, 'onNotice'> };

/** What a domain does beside requests. */
export type Worker = {
  start: (background: Background) => void;
  /** Looks for work at once, if this process runs it; other processes hear of new rows from Postgres. */
  wake: () => void;
  /** Waits until the present run has ended. */
  close: () => Promise<void>;
};

type Running = { wake?: () => void; close: () => Promise<void> };

/** A worker that takes connections, metrics and timers only once it is started. */
export function createWorker(start: (background: Background) => Running): Worker {
  let running: Running | undefined;
  return {
    start: (background) => {
      running = start(background);
    },
    wake: () => running?.wake?.(),
    close: async () => {
      await running?.close();
    },
  };
}
