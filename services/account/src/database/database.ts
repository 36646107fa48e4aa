import knex from 'knex';
import type { Knex } from 'knex';
import pg from 'pg';
import type { Logger } from '@tollgate/log';

/** Times that a Postgres that hangs may cost, in milliseconds; then the caller gets its error. */
export type DatabaseTimeouts = {
  /** Opening a connection. */
  connectMs: number;
  /** Waiting for a free connection of the pool. */
  acquireMs: number;
  /** One statement; 0 for no limit. */
  statementMs: number;
};

export type DatabaseOptions = {
  url: string;
  poolMax: number;
  timeouts: DatabaseTimeouts;
  logger: Pick<Logger, 'warn' | 'debug'>;
};

type TypeParser = (value: string) => unknown;

/** pg-types' own, whose declared type knows only some of the ids that a server can send. */
const getTypeParser = pg.types.getTypeParser as (oid: number, format: 'text' | 'binary') => unknown;

/** Postgres: bigint (int8). */
const INT8_OID: number = pg.types.builtins.INT8;

/**
 * How values come out of Postgres, for this service's connections only. A bigint is a number here: ids and
 * counters stay far below 2^53, and one that doesn't is an error, never a silently rounded figure.
 */
const types: Knex.PgCustomTypesConfig = {
  getTypeParser: (oid: number, format: string): TypeParser =>
    oid === INT8_OID && format !== 'binary'
      ? parseBigint
      : (getTypeParser(oid, format === 'binary' ? 'binary' : 'text') as TypeParser),
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database is beyond 2^53');
  return value;
}

/** Opens a pool of connections to Postgres. Connects when the first query comes. */
export function openDatabase({ url, poolMax, timeouts, logger }: DatabaseOptions): Knex {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      connectionTimeoutMillis: timeouts.connectMs,
      ...(timeouts.statementMs > 0
        ? // The server's own limit comes first; the client's is for a server that doesn't answer at all.
          { statement_timeout: timeouts.statementMs, query_timeout: timeouts.statementMs + 1_000 }
        : {}),
      keepAlive: true,
      types,
    },
    pool: { min: 0, max: poolMax },
    // Bindings can be secrets; error messages, which get logged, name the statement only.
    compileSqlOnError: false,
    acquireConnectionTimeout: timeouts.acquireMs,
    log: {
      warn: (message: unknown) => {
        logger.warn({ knex: message }, 'knex warns');
      },
      error: (message: unknown) => {
        logger.warn({ knex: message }, 'knex reports an error');
      },
      deprecate: (message: unknown) => {
        logger.debug({ knex: message }, 'knex deprecates');
      },
      debug: (message: unknown) => {
        logger.debug({ knex: message }, 'knex');
      },
    },
  });
}
