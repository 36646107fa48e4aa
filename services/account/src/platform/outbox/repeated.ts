import type { Logger } from '@tollgate/log';
import { isAttemptToLog } from './outbox-worker.ts';
import type { Attempt } from './outbox-worker.ts';

/** In milliseconds: before the second attempt, then twice as long each time, up to `max`. */
export type RetryWaits = { first: number; max: number };

type Repeated<Row> = {
  /** Throws if it is to be attempted again. */
  work: (row: Row) => Promise<void>;
  waits: RetryWaits;
  /** Adds to `attempts`, and makes the row due in `ms`. If it fails, the row is due when its lease ends. */
  postpone: (row: Row, ms: number) => Promise<unknown>;
  onFailed?: (row: Row) => void;
  message: string;
  /** Of the row and what was thrown, for the log. */
  describe: (row: Row, error: unknown) => object;
  logger: Pick<Logger, 'warn'>;
};

/** An attempt of an outbox that is made again until it succeeds. */
export function repeated<Row extends { attempts: number }>({
  work,
  waits,
  postpone,
  onFailed,
  message,
  describe,
  logger,
}: Repeated<Row>): (row: Row) => Promise<Attempt> {
  return async (row) => {
    try {
      await work(row);
      return { delivered: true };
    } catch (error) {
      onFailed?.(row);
      const attempts = row.attempts + 1;
      if (isAttemptToLog(attempts)) logger.warn({ ...describe(row, error), attempts }, message);
      const retryInMs = Math.min(waits.first * 2 ** row.attempts, waits.max);
      await postpone(row, retryInMs).catch(() => undefined);
      return { delivered: false, retryInMs };
    }
  };
}
