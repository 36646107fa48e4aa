import type { Knex } from 'knex';
import pg from 'pg';

type TypeParser = (value: string) => unknown;

/** pg-types declares only some of the ids that a server can send. */
const getTypeParser = pg.types.getTypeParser as (oid: number, format: 'text' | 'binary') => unknown;

const INT8_OID: number = pg.types.builtins.INT8;

/**
 * Parses bigint as number, for this service's connections only: ids and counters are far below 2^53, and a larger
 * value is an error instead of a rounded number.
 */
export const valueTypes: Knex.PgCustomTypesConfig = {
  getTypeParser: (oid: number, format: string): TypeParser =>
    oid === INT8_OID && format !== 'binary'
      ? parseBigint
      : (getTypeParser(oid, format === 'binary' ? 'binary' : 'text') as TypeParser),
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint exceeds 2^53');
  return value;
}
