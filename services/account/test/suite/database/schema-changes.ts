import type { Knex } from 'knex';

/** A schema as the database's catalogue describes it, by name. */
export type Schema = {
  tables: ReadonlySet<string>;
  columns: ReadonlyMap<string, Column>;
  /** Constraints and indexes: they refuse rows, or block writers while they are built. */
  rules: ReadonlyMap<string, { table: string; definition: string }>;
  routines: ReadonlySet<string>;
};

type Column = { table: string; type: string; not_null: boolean; filled: boolean };

export async function readSchema(database: Knex): Promise<Schema> {
  const read = async <Row>(sql: string) => (await database.raw<{ rows: Row[] }>(sql)).rows;
  const ours = "relnamespace = 'public'::regnamespace AND relname NOT LIKE 'knex%'";
  const tables = await read<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND ${ours}`,
  );
  const columns = await read<Column & { name: string }>(
    `SELECT relname || '.' || attname AS name, relname AS table, format_type(atttypid, atttypmod) AS type,
            attnotnull AS not_null, (atthasdef OR attidentity <> '') AS filled
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped AND ${ours}`,
  );
  const rules = await read<{ name: string; table: string; definition: string }>(
    `SELECT conname AS name, relname AS table, pg_get_constraintdef(pg_constraint.oid) AS definition
     FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE contype <> 'n' AND ${ours}
     UNION ALL
     SELECT index.relname, pg_class.relname, pg_get_indexdef(index.oid)
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid JOIN pg_class AS index ON index.oid = indexrelid
     WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
       AND pg_class.relnamespace = 'public'::regnamespace AND pg_class.relname NOT LIKE 'knex%'`,
  );
  const routines = await read<{ name: string }>(
    `SELECT 'function ' || pg_proc.oid::regprocedure || ' ' || prorettype::regtype AS name
     FROM pg_proc LEFT JOIN pg_depend ON objid = pg_proc.oid AND deptype = 'e'
     WHERE pronamespace = 'public'::regnamespace AND objid IS NULL
     UNION ALL
     SELECT 'trigger ' || relname || '.' || tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
     WHERE NOT tgisinternal AND ${ours}`,
  );
  return {
    tables: new Set(tables.map(({ name }) => name)),
    columns: new Map(columns.map(({ name, ...column }) => [name, column])),
    rules: new Map(rules.map(({ name, ...rule }) => [name, rule])),
    routines: new Set(routines.map(({ name }) => name)),
  };
}

/**
 * Changes that the previous version, which is still running, might not work with: what it uses is gone or different,
 * its writes are refused, or they wait while an index is built. Sorted.
 */
export function unsafeChanges(before: Schema, after: Schema): string[] {
  return [
    ...[...before.tables].filter((name) => !after.tables.has(name)).map((name) => `${name} is gone`),
    ...[...before.columns].flatMap(([name, column]) => columnFaults(name, column, after)),
    ...[...after.columns].flatMap(([name, { table, not_null, filled }]) =>
      before.tables.has(table) && !before.columns.has(name) && not_null && !filled
        ? [`${name} is required of every insert`]
        : [],
    ),
    ...[...after.rules].flatMap(([name, { table, definition }]) =>
      before.tables.has(table) && before.rules.get(name)?.definition !== definition
        ? [`${name} is a rule, or an index, that ${table} did not have`]
        : [],
    ),
    // ON CONFLICT needs unique indexes.
    ...[...before.rules].flatMap(([name, { table, definition }]) =>
      after.tables.has(table) && !after.rules.has(name) && /UNIQUE|PRIMARY/.test(definition)
        ? [`${name} is gone`]
        : [],
    ),
    ...[...before.routines].filter((name) => !after.routines.has(name)).map((name) => `${name} is gone`),
  ].toSorted();
}

function columnFaults(name: string, before: Column, { tables, columns }: Schema): string[] {
  const after = columns.get(name);
  if (after === undefined) return tables.has(before.table) ? [`${name} is gone`] : [];
  return [
    ...(after.type === before.type ? [] : [`${name} has another type`]),
    ...(after.not_null && !before.not_null ? [`${name} is required of every insert`] : []),
    ...(before.filled && !after.filled ? [`${name} does not fill itself any more`] : []),
  ];
}
