import type { Logger } from '@tollgate/log';
import { startLoop } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import type { DueWatch } from './due-watch.ts';

/** How often to look for work without being woken. */
const POLL_MS = 500;

/** The same for work that is watched for: only a condition that is wrong would need it. */
const WATCHED_POLL_MS = 30_000;

/** `condition`: whether there is work; a constant SQL expression. */
export type Due = { dueWatch: DueWatch; condition: string };

/** Looks for work and does it, repeatedly. Logs the first of several failures, and the recovery. */
export function startWorkLoop(options: {
  /** Long work checks the signal between its steps. */
  work: (signal: AbortSignal) => Promise<void>;
  messages: { failed: string; recovered: string };
  /** Without it, work is looked for twice a second. With it, the first time at which it is due. */
  due?: Due;
  /** Also where nothing is due: `work` does more than the condition tells of. */
  worksAtStart?: boolean;
  /** While false, work isn't looked for until the loop is woken. */
  isNeeded?: () => boolean;
  logger: Pick<Logger, 'info' | 'warn'>;
}): BackgroundLoop {
  const { work, messages, due, worksAtStart = due === undefined, isNeeded = () => true, logger } = options;
  let failed = false;
  const run = async (signal: AbortSignal) => {
    try {
      await work(signal);
      if (failed) logger.info(messages.recovered);
      failed = false;
    } catch (error) {
      if (!failed) logger.warn({ err: error }, messages.failed);
      failed = true;
    }
    return failed || (due === undefined && isNeeded()) ? POLL_MS : WATCHED_POLL_MS;
  };
  const loop = startLoop(run, { firstRestMs: worksAtStart ? 0 : WATCHED_POLL_MS });
  const unwatch = due?.dueWatch.watch(due.condition, loop.wake);
  return {
    ...loop,
    close: async () => {
      unwatch?.();
      await loop.close();
    },
  };
}
