import type { Knex } from 'knex';
import pg from 'pg';
import { Problem } from '@tollgate/http/problem';

/**
 * Runs one statement and returns its rows. `:name` in it stands for a binding. A statement with a name of its own
 * is planned once for each connection instead of each time: for look-ups of many tables that are asked often, whose
 * plan costs more than its execution (ADR 0037).
 * @throws {Problem} service_unavailable where Postgres is away, too slow or asks to come back.
 */
export type Query = <Row>(
  sql: string,
  bindings?: Readonly<Record<string, unknown>>,
  name?: string,
) => Promise<Row[]>;

/** The way of the HTTP endpoints to the database. */
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
 * Runs statements in one transaction: all of them or, where `work` throws, none.
 * @throws what `work` throws
 * @throws {Problem} service_unavailable, also where it isn't known whether the commit came to pass
 */
export type Transact = <T>(work: (query: Query) => Promise<T>) => Promise<T>;

/** The HTTP endpoints' way to change the database. */
export function createTransact(database: Knex): Transact {
  return async (work) => {
    try {
      return await database.transaction((transaction) => work(createQuery(transaction)));
    } catch (error) {
      throw asProblem(error);
    }
  };
}

/** The SQLSTATE of an error that Postgres reported, also of one that was turned into service_unavailable. */
export function sqlState(error: unknown): string | undefined {
  const reported = error instanceof Problem ? error.cause : error;
  return reported instanceof pg.DatabaseError ? reported.code : undefined;
}

/** Whether a statement failed because another row has what must be unique (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505';
}

/** Whether a statement failed because periods of one account would overlap (SQLSTATE 23P01). */
export function isExclusionViolation(error: unknown): boolean {
  return sqlState(error) === '23P01';
}

/** Whether a statement failed because a value is outside of what its table allows (SQLSTATE 23514). */
export function isCheckViolation(error: unknown): boolean {
  return sqlState(error) === '23514';
}

/** What a statement threw, as service_unavailable where Postgres is away, too slow or asks to come back. */
export function asProblem(error: unknown): unknown {
  if (error instanceof Problem || !isUnavailable(error)) return error;
  return new Problem('service_unavailable', { cause: error });
}

/**
 * SQLSTATEs, by class or in full, that say "not now" about the server instead of "wrong" about the statement:
 * connection, log-in, resources, operator and system errors, a read-only server in a failover, lost races.
 */
const TRANSIENT_STATES = /^(08|28|3D|53|57|58|25006|25P03|40)/;

/**
 * Whether an error of a statement means that Postgres can't be reached or can't answer now. What has no
 * SQLSTATE never was an answer of Postgres: a connection that failed, broke or timed out. Mistakes of our own
 * have their built-in types.
 */
function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return TRANSIENT_STATES.test(error.code ?? '');
  return !(error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError);
}
