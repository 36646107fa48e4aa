import type { Logger } from '@tollgate/log';
import { pause } from './pause.ts';

/** How often work is looked for of which nobody has told this process. */
const POLL_MS = 500;

export type WorkLoop = {
  /** Runs `work` again at once, or right after the run under way. */
  wake: () => void;
  /** Aborted when the loop closes. */
  signal: AbortSignal;
  /** Resolves when the run under way, the last one, has ended. */
  close: () => Promise<void>;
};

/** Runs work again and again: of an outbox, of what is due. A failure is told once, with what the work waits for, and its end too. */
export function startWorkLoop(options: {
  /** Work of many steps looks at the signal between them. */
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
