import type { Query } from '../database/query.ts';

/** Has the columns `attempts`, `next_attempt_at` and `created_at`. The names are constants, never input. */
export type OutboxTable = { table: string; id: string; columns: string };

/** By Postgres' clock, which all replicas share. */
export const msFromNow = (name: string) => `clock_timestamp() + :${name} * interval '1 millisecond'`;

/** Leases due rows, oldest first. Any number of replicas may do so at once. */
export function claimDue<Row>(
  query: Query,
  { table, id, columns }: OutboxTable,
  { limit, leaseMs, except }: { limit: number; leaseMs: number; except: readonly number[] },
): Promise<Row[]> {
  return query<Row>(
    `UPDATE ${table} SET next_attempt_at = ${msFromNow('leaseMs')}
     WHERE ${id} IN (
       SELECT ${id} FROM ${table}
       WHERE next_attempt_at <= clock_timestamp() AND ${id} <> ALL (CAST(:except AS bigint[]))
       ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED
     ) RETURNING ${columns}`,
    { limit, leaseMs, except: [...except] },
  );
}

/**
 * Returns the row's age in seconds; undefined if another replica has removed it, or Postgres can't be
 * reached: then it becomes due again when its lease ends.
 */
export async function removeRow(
  query: Query,
  { table, id }: OutboxTable,
  rowId: number,
): Promise<number | undefined> {
  const [removed] = await query<{ age_sec: number }>(
    `DELETE FROM ${table} WHERE ${id} = :rowId
     RETURNING CAST(extract(epoch FROM clock_timestamp() - created_at) AS float8) AS age_sec`,
    { rowId },
  ).catch(() => []);
  return removed?.age_sec;
}

export async function postpone(
  query: Query,
  { table, id }: OutboxTable,
  rowId: number,
  backoffMs: number,
): Promise<void> {
  await query(
    `UPDATE ${table} SET attempts = attempts + 1, next_attempt_at = ${msFromNow('backoffMs')} WHERE ${id} = :rowId`,
    { rowId, backoffMs },
  );
}
