import knex from 'knex';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '@tollgate/log';
import { currentTrace } from '@tollgate/log/current-trace';
import { observeConnection, observePool, observeStatement } from './metrics.ts';
import { valueTypes } from './value-types.ts';

export type DatabaseOptions = {
  /** The pool's label in metrics; without it, there are none. */
  name?: string;
  url: string;
  poolMax: number;
  /** For opening a connection or waiting for a free one. */
  acquireTimeoutMs: number;
  /** 0 for no limit. */
  statementTimeoutMs: number;
  /** Default: the statement's limit. */
  lockTimeoutMs?: number;
  /** A process that hangs in a transaction releases its locks after this time. Default: 10 seconds. */
  idleInTransactionTimeoutMs?: number;
  logger: Pick<Logger, 'debug'>;
};

/** The client gives up later than the server: only if the server does not respond at all. */
const HANG_MARGIN_MS = 500;

/** How often a pool looks for connections unused for 30 s; the default of a second wakes an idle process per pool. */
const REAP_INTERVAL_MS = 30_000;

/** Connects with the first statement. */
export function openDatabase(options: DatabaseOptions): Knex {
  const { name, url, poolMax, acquireTimeoutMs, statementTimeoutMs, logger } = options;
  const { lockTimeoutMs = 0, idleInTransactionTimeoutMs = 10_000 } = options;
  const log = (message: unknown) => {
    logger.debug({ knex: message }, 'message from knex');
  };
  // knex's type lacks pg's lock_timeout.
  const connection: Knex.PgConnectionConfig & { lock_timeout: number } = {
    connectionString: url,
    connectionTimeoutMillis: acquireTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
    types: valueTypes,
  };
  const database = knex({
    client: 'pg',
    connection,
    pool: {
      min: 0,
      max: poolMax,
      createTimeoutMillis: acquireTimeoutMs,
      reapIntervalMillis: REAP_INTERVAL_MS,
      afterCreate: (connection: Client, done: () => void) => {
        if (statementTimeoutMs > 0) closeWhenHanging(connection, statementTimeoutMs + HANG_MARGIN_MS);
        if (name !== undefined) {
          observeConnection(connection);
          timeStatements(connection, name);
        }
        done();
      },
    },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Bindings can be secrets; logged error messages contain only the statement.
    compileSqlOnError: false,
    // The caller gets and logs the same as an error.
    log: { warn: log, error: log, deprecate: log, debug: log },
  });
  if (name !== undefined) observePool(name, database);
  return database;
}

type Answered = (...answer: unknown[]) => void;
type Statement = (config: unknown, answered: Answered) => void;

/** SELECT, INSERT, …: never more of a statement, which may hold a secret. */
function operationOf(config: unknown): string {
  const text = typeof config === 'string' ? config : (config as { text?: string }).text;
  return /^[\s(]*([a-z]+)/i.exec(text ?? '')?.[1]?.toUpperCase() ?? 'OTHER';
}

function timeStatements(connection: Client, pool: string): void {
  const query = connection.query.bind(connection) as Statement;
  const timed: Statement = (config, answered) => {
    const startedMs = performance.now();
    const ended = currentTrace()?.store('postgresql', operationOf(config));
    query(config, (...answer) => {
      observeStatement(pool, performance.now() - startedMs);
      ended?.(answer[0]);
      answered(...answer);
    });
  };
  connection.query = timed as typeof connection.query;
}

/**
 * Closes a connection whose statement gets no response in time. pg's `query_timeout` would keep it: a transaction
 * still open on it would commit the statements of the next one.
 */
function closeWhenHanging(connection: Client, timeoutMs: number): void {
  const query = connection.query.bind(connection) as Statement;
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
