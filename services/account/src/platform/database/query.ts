import type { Knex } from 'knex';
import pg from 'pg';
import { Problem } from '@tollgate/http/problem';

/**
 * Runs one statement and returns its rows. `:name` stands for a binding. A named statement is planned once per
 * connection, for frequent look-ups over many tables (docs/design/stores.md).
 * @throws {Problem} service_unavailable if Postgres is unreachable, too slow or asks for a retry.
 */
export type Query = <Row>(
  sql: string,
  bindings?: Readonly<Record<string, unknown>>,
  name?: string,
) => Promise<Row[]>;

export function createQuery(database: Knex): Query {
  return async <Row>(sql: string, bindings: Readonly<Record<string, unknown>> = {}, name?: string) => {
    try {
      const statement = database.raw<{ rows: Row[] }>(sql, bindings as Knex.RawBinding);
      const { rows } = await (name === undefined ? statement : statement.options({ name }));
      return rows;
    } catch (error) {
      throw asProblem(error);
    }
  };
}

/**
 * Runs `work` in one transaction, rolled back if it throws.
 * @throws what `work` throws
 * @throws {Problem} service_unavailable, also if the outcome of the commit is unknown
 */
export type Transact = <T>(work: (query: Query) => Promise<T>) => Promise<T>;

export function createTransact(database: Knex): Transact {
  return async (work) => {
    try {
      return await database.transaction((transaction) => work(createQuery(transaction)));
    } catch (error) {
      throw asProblem(error);
    }
  };
}

/**
 * Runs `work` on one read-only snapshot: all its statements see the same moment.
 * @throws as Transact
 */
export function createSnapshot(database: Knex): Transact {
  const config = { isolationLevel: 'repeatable read', readOnly: true } as const;
  return async (work) => {
    try {
      return await database.transaction((transaction) => work(createQuery(transaction)), config);
    } catch (error) {
      throw asProblem(error);
    }
  };
}

/** What Postgres or the connection reported. The message of service_unavailable is for callers. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Problem ? error.cause : error;
}

/** The SQLSTATE of an error that Postgres reported, also of one that was turned into service_unavailable. */
export function sqlState(error: unknown): string | undefined {
  const reported = reasonOf(error);
  return reported instanceof pg.DatabaseError ? reported.code : undefined;
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505';
}

/** SQLSTATE 23P01: periods of an account would overlap. */
export function isExclusionViolation(error: unknown): boolean {
  return sqlState(error) === '23P01';
}

export function isCheckViolation(error: unknown): boolean {
  return sqlState(error) === '23514';
}

/** The constraint that Postgres, or a trigger of ours, reported as violated. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.constraint : undefined;
}

/** Turns errors that a retry may avoid into service_unavailable. */
function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !isUnavailable(error)) return error;
  return new Problem('service_unavailable', { cause: error });
}

/**
 * SQLSTATEs or their classes that concern the server, not the statement: connection, log-in, resources, operator and
 * system errors, a read-only server in a failover, serialization failures.
 */
const TRANSIENT_STATES = /^(08|28|3D|53|57|58|25006|25P03|40)/;

/** An error without a SQLSTATE is a connection that failed, broke or timed out, unless it has a built-in type. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return TRANSIENT_STATES.test(error.code ?? '');
  return !(error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError);
}
