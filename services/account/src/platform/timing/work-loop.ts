import type { Logger } from '@tollgate/log';
import { pause } from './pause.ts';

/** How often to look for work without being woken. */
const POLL_MS = 500;

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
  logger: Pick<Logger, 'info' | 'warn'>;
}): WorkLoop {
  const { work, messages, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let alarm = Promise.withResolvers<undefined>();

  async function run(): Promise<void> {
    let failed = false;
    while (!signal.aborted) {
      alarm = Promise.withResolvers<undefined>();
      try {
        await work(signal);
        if (failed) logger.info(messages.recovered);
        failed = false;
      } catch (error) {
        if (!failed) logger.warn({ err: error }, messages.failed);
        failed = true;
      }
      await Promise.race([alarm.promise, pause(POLL_MS, signal)]);
    }
  }

  const running = run();
  return {
    wake: () => {
      alarm.resolve(undefined);
    },
    signal,
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
