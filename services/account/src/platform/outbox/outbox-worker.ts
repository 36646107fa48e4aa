import type { Logger } from '@tollgate/log';
import { pause } from '@tollgate/server/background-loop';
import { startWorkLoop } from '../background/work-loop.ts';
import type { Due } from '../background/work-loop.ts';

/** A row that isn't delivered is due again after `retryInMs`. */
export type Attempt = { delivered: true } | { delivered: false; retryInMs: number };

/** At attempts 1, 2, 4, 8, …, so that an outage doesn't fill the log. */
export function isAttemptToLog(attempts: number): boolean {
  return (attempts & (attempts - 1)) === 0;
}

export type OutboxWorkerOptions<Row> = {
  name: string;
  idOf: (row: Row) => number;
  /** Leases due rows for longer than an attempt takes. */
  claim: (limit: number, except: readonly number[]) => Promise<Row[]>;
  /** Never throws. */
  attempt: (row: Row) => Promise<Attempt>;
  maxInFlight: number;
  due: Due;
  logger: Pick<Logger, 'info' | 'warn'>;
};

export type OutboxWorker<Row> = {
  /** Attempts a row that this process has just committed, or joins its attempt. */
  deliver: (row: Row) => Promise<boolean>;
  wake: () => void;
  signal: AbortSignal;
  close: () => Promise<void>;
};

/**
 * Rows are leased instead of locked: an attempt holds no connection, a dead process's rows become due again, and a bad
 * row delays no other. If a lease ends too early a row is delivered twice, which must do no harm.
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
      failed: `the ${name} outbox cannot reach Postgres; retrying`,
      recovered: `the ${name} outbox is being read again`,
    },
    due: options.due,
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
