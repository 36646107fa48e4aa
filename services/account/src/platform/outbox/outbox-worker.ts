import type { Logger } from '@tollgate/log';
import { pause } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
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
  /** Leases at most `limit` due rows, at least one, for longer than an attempt takes. */
  claim: (limit: number, except: readonly number[]) => Promise<Row[]>;
  /** Called at each look for due rows, also where there is no room for them. */
  observe?: () => Promise<void>;
  /** Never throws. */
  attempt: (row: Row) => Promise<Attempt>;
  maxInFlight: number;
  logger: Pick<Logger, 'info' | 'warn'>;
};

export type OutboxWorker<Row> = {
  /** Attempts a row that this process has just committed, or joins its attempt. Needs no start. */
  deliver: (row: Row) => Promise<boolean>;
  /** Looks for due rows, of any process. */
  start: (due: Due) => void;
  wake: () => void;
  signal: AbortSignal;
  close: () => Promise<void>;
};

/**
 * Rows are leased instead of locked: an attempt holds no connection, a dead process's rows become due again, and a bad
 * row delays no other. If a lease ends too early a row is delivered twice, which must do no harm.
 */
export function createOutboxWorker<Row>(options: OutboxWorkerOptions<Row>): OutboxWorker<Row> {
  const { name, idOf, maxInFlight, logger } = options;
  const inFlight = new Map<number, Promise<boolean>>();
  const closing = new AbortController();
  let loop: BackgroundLoop | undefined;
  const wake = () => loop?.wake();

  function begin(row: Row): Promise<boolean> {
    const delivering = options.attempt(row).then((attempt) => {
      inFlight.delete(idOf(row));
      if (!attempt.delivered) void pause(attempt.retryInMs, closing.signal).then(wake);
      else if (inFlight.size === maxInFlight - 1) wake();
      return attempt.delivered;
    });
    inFlight.set(idOf(row), delivering);
    return delivering;
  }

  return {
    deliver: (row) => inFlight.get(idOf(row)) ?? begin(row),
    start: (due) => {
      loop = startWorkLoop({
        work: async () => {
          const limit = maxInFlight - inFlight.size;
          const rows = limit > 0 ? await options.claim(limit, [...inFlight.keys()]) : [];
          for (const row of rows) void begin(row);
          await options.observe?.();
        },
        messages: {
          failed: `the ${name} outbox cannot reach Postgres; retrying`,
          recovered: `the ${name} outbox is being read again`,
        },
        due,
        logger,
      });
    },
    wake,
    signal: closing.signal,
    close: async () => {
      closing.abort();
      await loop?.close();
      await Promise.all(inFlight.values());
    },
  };
}

export function startOutboxWorker<Row>({
  due,
  ...options
}: OutboxWorkerOptions<Row> & { due: Due }): OutboxWorker<Row> {
  const worker = createOutboxWorker(options);
  worker.start(due);
  return worker;
}
