import pg from 'pg';

type TypeParser = (value: string) => unknown;

/** pg-types declares only some of the ids that a server can send. */
const getTypeParser = pg.types.getTypeParser as (oid: number, format: 'text' | 'binary') => unknown;

const INT8_OID: number = pg.types.builtins.INT8;

/** bigint as number, for this service only: beyond 2^53 it is an error instead of a rounded number. */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format = 'text'): TypeParser =>
    oid === INT8_OID && format !== 'binary'
      ? parseBigint
      : (getTypeParser(oid, format === 'binary' ? 'binary' : 'text') as TypeParser),
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint exceeds 2^53');
  return value;
}
