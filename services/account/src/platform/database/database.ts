import knex from 'knex';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '@tollgate/log';
import { valueTypes } from './value-types.ts';

export type DatabaseOptions = {
  url: string;
  /** Connections, at most. */
  poolMax: number;
  /** Opening a connection, and waiting for a free one of the pool. */
  acquireTimeoutMs: number;
  /** One statement; 0 for no limit. */
  statementTimeoutMs: number;
  /** Waiting for one lock; without it, as long as the statement may take. */
  lockTimeoutMs?: number;
  logger: Pick<Logger, 'debug'>;
};

/** A transaction whose process hangs keeps its locks no longer than this. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

/** How much later than the server the client gives up: only a server that doesn't answer at all gets there. */
const HANG_MARGIN_MS = 500;

/** Opens a pool of connections to Postgres. It connects when the first statement comes. */
export function openDatabase(options: DatabaseOptions): Knex {
  const { url, poolMax, acquireTimeoutMs, statementTimeoutMs, lockTimeoutMs = 0, logger } = options;
  const log = (message: unknown) => {
    logger.debug({ knex: message }, 'knex says');
  };
  // knex's type lacks pg's lock_timeout.
  const connection: Knex.PgConnectionConfig & { lock_timeout: number } = {
    connectionString: url,
    connectionTimeoutMillis: acquireTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    types: valueTypes,
  };
  return knex({
    client: 'pg',
    connection,
    pool: {
      min: 0,
      max: poolMax,
      createTimeoutMillis: acquireTimeoutMs,
      afterCreate: (connection: Client, done: () => void) => {
        if (statementTimeoutMs > 0) closeWhenHanging(connection, statementTimeoutMs + HANG_MARGIN_MS);
        done();
      },
    },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Bindings can be secrets; error messages, which get logged, name the statement only.
    compileSqlOnError: false,
    // Whatever it warns of also reaches the caller as an error, who logs it in its own words.
    log: { warn: log, error: log, deprecate: log, debug: log },
  });
}

/**
 * Closes a connection whose statement gets no answer in time. pg's own `query_timeout` gives up on the
 * statement and keeps the connection: a transaction that is still open on it would take in, and commit, the
 * statements of the next one.
 */
function closeWhenHanging(connection: Client, timeoutMs: number): void {
  type Answered = (...answer: unknown[]) => void;
  const query = connection.query.bind(connection) as (config: unknown, answered: Answered) => void;
  const timed = (config: unknown, answered: Answered) => {
    const timer = setTimeout(() => {
      // With a statement under way this destroys the socket, and the statement fails.
      connection.end(() => undefined);
    }, timeoutMs);
    query(config, (...answer) => {
      clearTimeout(timer);
      answered(...answer);
    });
  };
  connection.query = timed as typeof connection.query;
}
