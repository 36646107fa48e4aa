import type { Query, Transact } from '../../platform/database/query.ts';

/** Any number that nothing else locks in this database. */
const RETENTION_LOCK = 7_462_004;

/** While a drop waits for its lock, all other queries wait behind it. */
const LOCK_TIMEOUT_MS = 200;

export type Dropped = { partition: string } | 'nothing_to_drop' | 'another_replica';

/**
 * Drops the oldest partition of usage_hourly if it ends before an instant, and stores in the same transaction from
 * when on rows are complete, so that checks do not take dropped rows for a difference.
 * @throws {Error} lock_not_available (SQLSTATE 55P03) during a long read; retry
 */
export function dropOldestMonth(transact: Transact, keepFrom: Date): Promise<Dropped> {
  return transact(async (query): Promise<Dropped> => {
    const [lock] = await query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(:lock) AS taken', {
      lock: RETENTION_LOCK,
    });
    if (lock?.taken !== true) return 'another_replica';
    const [oldest] = await partitions(query);
    if (oldest === undefined || oldest.to > keepFrom) return 'nothing_to_drop';
    await query(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
    await query('UPDATE usage_hourly_kept SET kept_from = greatest(kept_from, :to)', { to: oldest.to });
    // The pattern below accepts only names made by ensurePartitions.
    await query(`DROP TABLE ${oldest.name}`);
    return { partition: oldest.name };
  });
}

/** Following months that already have a partition. */
export async function monthsAhead(query: Query, now: Date): Promise<number> {
  const ahead = (await partitions(query)).filter(({ from }) => from > now);
  return ahead.length;
}

type Partition = { name: string; from: Date; to: Date };

/** Oldest first. */
async function partitions(query: Query): Promise<Partition[]> {
  const rows = await query<{ name: string }>(
    `SELECT partition.relname AS name
     FROM pg_inherits JOIN pg_class AS partition ON partition.oid = inhrelid
     WHERE inhparent = CAST('usage_hourly' AS regclass) AND partition.relname ~ '^usage_hourly_[0-9]{4}_[0-9]{2}$'
     ORDER BY name`,
  );
  return rows.map(({ name }) => {
    const [year, month] = [Number(name.slice(-7, -3)), Number(name.slice(-2))];
    return { name, from: new Date(Date.UTC(year, month - 1, 1)), to: new Date(Date.UTC(year, month, 1)) };
  });
}
