import knex from 'knex';
import type { Knex } from 'knex';
import type { Client } from 'pg';
import type { Logger } from '@tollgate/log';
import { currentTrace } from '@tollgate/log/current-trace';
import { observeConnection, observePool, observeStatement } from './metrics.ts';
import type { PostgresServer } from './postgres-server.ts';
import { valueTypes } from './value-types.ts';

export type DatabaseOptions = {
  /** The pool's label in metrics; without it, there are none. */
  name?: string;
  server: PostgresServer;
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

/**
 * Connecting gives up before the wait for a connection does, so that the error says what is wrong with the server, not
 * that the pool is full.
 */
const CONNECT_SHARE = 0.9;

/** Pools that were filled at once aren't emptied at once. */
const AGE_JITTER_SHARE = 0.1;

/** Connects with the first statement. */
export function openDatabase(options: DatabaseOptions): Knex {
  const { name, server, poolMax, acquireTimeoutMs, statementTimeoutMs, logger } = options;
  const { lockTimeoutMs = 0, idleInTransactionTimeoutMs = 10_000 } = options;
  const log = (message: unknown) => {
    logger.debug({ knex: message }, 'message from knex');
  };
  const database = knex({
    client: 'pg',
    // Without one, there is no pool.
    connection: {},
    pool: {
      min: 0,
      max: poolMax,
      createTimeoutMillis: acquireTimeoutMs,
      reapIntervalMillis: REAP_INTERVAL_MS,
      maxConnectionLifetimeMillis: server.connectionMaxAgeMs,
      maxConnectionLifetimeJitterMillis: server.connectionMaxAgeMs * AGE_JITTER_SHARE,
      validate: (connection: Client) => server.isUsable(connection),
    },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Bindings can be secrets; logged error messages contain only the statement.
    compileSqlOnError: false,
    // The caller gets and logs the same as an error.
    log: { warn: log, error: log, deprecate: log, debug: log },
  });
  const limits = {
    connectTimeoutMs: acquireTimeoutMs * CONNECT_SHARE,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    types: valueTypes,
  };
  // knex knows one host, and none of the server's rules.
  (database.client as Knex.Client).acquireRawConnection = async () => {
    const connection = await server.connect(limits);
    onStatements(connection, () => (error) => {
      server.noteError(connection, error);
    });
    if (statementTimeoutMs > 0) closeWhenHanging(connection, statementTimeoutMs + HANG_MARGIN_MS);
    if (name !== undefined) {
      observeConnection(connection);
      timeStatements(connection, name);
    }
    return connection;
  };
  if (name !== undefined) observePool(name, database);
  return database;
}

type Answered = (...answer: unknown[]) => void;
type Statement = (config: unknown, answered: Answered) => void;

/** Calls `begin` with each statement, and what it returns with the error, if there is one, once it is answered. */
function onStatements(connection: Client, begin: (config: unknown) => (error: unknown) => void): void {
  const query = connection.query.bind(connection) as Statement;
  const observed: Statement = (config, answered) => {
    const end = begin(config);
    query(config, (...answer) => {
      end(answer[0]);
      answered(...answer);
    });
  };
  connection.query = observed as typeof connection.query;
}

/** SELECT, INSERT, …: never more of a statement, which may hold a secret. */
function operationOf(config: unknown): string {
  const text = typeof config === 'string' ? config : (config as { text?: string }).text;
  return /^[\s(]*([a-z]+)/i.exec(text ?? '')?.[1]?.toUpperCase() ?? 'OTHER';
}

function timeStatements(connection: Client, pool: string): void {
  onStatements(connection, (config) => {
    const startedMs = performance.now();
    const ended = currentTrace()?.store('postgresql', operationOf(config));
    return (error) => {
      observeStatement(pool, performance.now() - startedMs);
      ended?.(error);
    };
  });
}

/**
 * Closes a connection whose statement gets no response in time. pg's `query_timeout` would keep it: a transaction
 * still open on it would commit the statements of the next one.
 */
function closeWhenHanging(connection: Client, timeoutMs: number): void {
  onStatements(connection, () => {
    const timer = setTimeout(() => {
      // During a statement this destroys the socket, and the statement fails.
      connection.end(() => undefined);
    }, timeoutMs);
    return () => {
      clearTimeout(timer);
    };
  });
}
