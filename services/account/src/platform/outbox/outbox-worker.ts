import type { Logger } from '@tollgate/log';
import { pause } from '../timing/pause.ts';
import { startWorkLoop } from '../timing/work-loop.ts';

/** What came of an attempt; a row that isn't delivered is due again after `retryInMs`. */
export type Attempt = { delivered: true } | { delivered: false; retryInMs: number };

export type OutboxWorkerOptions<Row> = {
  /** Names the outbox in the log. */
  name: string;
  idOf: (row: Row) => number;
  /** Takes due rows by a lease that outlasts an attempt, at most `limit` and none of `except`. */
  claim: (limit: number, except: readonly number[]) => Promise<Row[]>;
  /** Never throws. */
  attempt: (row: Row) => Promise<Attempt>;
  /** Attempts under way at one moment. */
  maxInFlight: number;
  logger: Pick<Logger, 'info' | 'warn'>;
};

export type OutboxWorker<Row> = {
  /** Begins a row that this process has just written; or joins the attempt that is under way. */
  deliver: (row: Row) => Promise<boolean>;
  /** Looks for due rows now. */
  wake: () => void;
  /** Aborted when the worker closes. */
  signal: AbortSignal;
  /** Takes nothing more on, and resolves when the attempts under way have ended. */
  close: () => Promise<void>;
};

/**
 * Works an outbox's rows off, many at a time. A row is taken by a lease instead of an open transaction, so that no
 * attempt keeps a connection, a process that dies frees its rows by itself, and one bad row delays nothing but
 * itself. A lease that ends too early has a row delivered twice, which must do no harm.
 */
export function startOutboxWorker<Row>(options: OutboxWorkerOptions<Row>): OutboxWorker<Row> {
  const { name, idOf, maxInFlight, logger } = options;
  const inFlight = new Map<number, Promise<boolean>>();
  const loop = startWorkLoop({
    work: async () => {
      for (const row of await options.claim(maxInFlight - inFlight.size, [...inFlight.keys()])) {
        void begin(row);
      }
    },
    messages: {
      failed: `the ${name} outbox waits for Postgres`,
      recovered: `the ${name} outbox is read again`,
    },
    logger,
  });

  function begin(row: Row): Promise<boolean> {
    const delivering = options.attempt(row).then((attempt) => {
      inFlight.delete(idOf(row));
      if (!attempt.delivered) void pause(attempt.retryInMs, loop.signal).then(loop.wake);
      else if (inFlight.size === maxInFlight - 1) loop.wake();
      return attempt.delivered;
    });
    inFlight.set(idOf(row), delivering);
    return delivering;
  }

  return {
    deliver: (row) => inFlight.get(idOf(row)) ?? begin(row),
    wake: loop.wake,
    signal: loop.signal,
    close: async () => {
      await loop.close();
      await Promise.all(inFlight.values());
    },
  };
}
