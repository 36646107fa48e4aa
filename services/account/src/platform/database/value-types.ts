import type { Knex } from 'knex';
import pg from 'pg';

type TypeParser = (value: string) => unknown;

/** pg-types' own, whose declared type knows only some of the ids that a server can send. */
const getTypeParser = pg.types.getTypeParser as (oid: number, format: 'text' | 'binary') => unknown;

/** Postgres: bigint (int8). */
const INT8_OID: number = pg.types.builtins.INT8;

/**
 * How values come out of Postgres, for this service's connections only. A bigint is a number here: ids and
 * counters stay far below 2^53, and one that doesn't is an error, never a silently rounded figure.
 */
export const valueTypes: Knex.PgCustomTypesConfig = {
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
