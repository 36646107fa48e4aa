import type { Logger } from '@tollgate/log';
import type { DueWatch } from './due-watch.ts';
import { pause } from './pause.ts';

/** How often to look for work without being woken. */
const POLL_MS = 500;

/** The same for work that is watched for: only a condition that is wrong would need it. */
const WATCHED_POLL_MS = 30_000;

/** `condition`: whether there is work; a constant SQL expression. */
export type Due = { dueWatch: DueWatch; condition: string };

export type WorkLoop = {
  /** Runs `work` at once, or right after the present run. */
  wake: () => void;
  signal: AbortSignal;
  close: () => Promise<void>;
};

/** Runs work repeatedly. Logs the first of several failures, and the recovery. */
export function startWorkLoop(options: {
  /** Long work checks the signal between its steps. */
  work: (signal: AbortSignal) => Promise<void>;
  messages: { failed: string; recovered: string };
  /** Without it, work is looked for twice a second. */
  due?: Due;
  /** While false, work isn't looked for until the loop is woken. */
  isNeeded?: () => boolean;
  logger: Pick<Logger, 'info' | 'warn'>;
}): WorkLoop {
  const { work, messages, due, isNeeded = () => true, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let resting = new AbortController();

  async function run(): Promise<void> {
    let failed = false;
    while (!signal.aborted) {
      resting = new AbortController();
      try {
        await work(signal);
        if (failed) logger.info(messages.recovered);
        failed = false;
      } catch (error) {
        if (!failed) logger.warn({ err: error }, messages.failed);
        failed = true;
      }
      const restMs = due === undefined && isNeeded() ? POLL_MS : WATCHED_POLL_MS;
      await pause(restMs, AbortSignal.any([signal, resting.signal]));
    }
  }

  const running = run();
  const wake = () => {
    resting.abort();
  };
  const unwatch = due?.dueWatch.watch(due.condition, wake);
  return {
    wake,
    signal,
    close: async () => {
      unwatch?.();
      stopping.abort();
      await running;
    },
  };
}
