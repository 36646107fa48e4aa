import knex from 'knex';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '@tollgate/log';
import { valueTypes } from './value-types.ts';

export type DatabaseOptions = {
  url: string;
  poolMax: number;
  /** For opening a connection or waiting for a free one. */
  acquireTimeoutMs: number;
  /** 0 for no limit. */
  statementTimeoutMs: number;
  /** Default: the statement's limit. */
  lockTimeoutMs?: number;
  logger: Pick<Logger, 'debug'>;
};

/** A process that hangs releases its locks after this time. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

/** The client gives up later than the server: only if the server does not respond at all. */
const HANG_MARGIN_MS = 500;

/** Connects with the first statement. */
export function openDatabase(options: DatabaseOptions): Knex {
  const { url, poolMax, acquireTimeoutMs, statementTimeoutMs, lockTimeoutMs = 0, logger } = options;
  const log = (message: unknown) => {
    logger.debug({ knex: message }, 'message from knex');
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
    // Bindings can be secrets; logged error messages contain only the statement.
    compileSqlOnError: false,
    // The caller gets and logs the same as an error.
    log: { warn: log, error: log, deprecate: log, debug: log },
  });
}

/**
 * Closes a connection whose statement gets no response in time. pg's `query_timeout` would keep it: a transaction
 * still open on it would commit the statements of the next one.
 */
function closeWhenHanging(connection: Client, timeoutMs: number): void {
  type Answered = (...answer: unknown[]) => void;
  const query = connection.query.bind(connection) as (config: unknown, answered: Answered) => void;
  const timed = (config: unknown, answered: Answered) => {
    const timer = setTimeout(() => {
      // During a statement this destroys the socket, and the statement fails.
      connection.end(() => undefined);
    }, timeoutMs);
    query(config, (...answer) => {
      clearTimeout(timer);
      answered(...answer);
    });
  };
  connection.query = timed as typeof connection.query;
}
