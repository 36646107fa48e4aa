import type { Query, Transact } from '../../platform/database/query.ts';

/** Any number that nothing else locks in this database. */
const RETENTION_LOCK = 7_462_004;

/** A drop locks everyone out of the table for a moment; while it waits for its turn, everyone waits behind it. */
const LOCK_TIMEOUT_MS = 200;

/** What became of an attempt to drop the oldest month. */
export type Dropped = { partition: string } | 'nothing_to_drop' | 'another_replica';

/**
 * Drops the oldest partition of usage_hourly that holds only hours before an instant, and notes in the same
 * transaction since when the rows are whole: whoever compares totals with them can't mistake the one for the other.
 *
 * @throws {Error} lock_not_available (SQLSTATE 55P03) where somebody reads for long; to be tried again
 */
export function dropOldestMonth(transact: Transact, keepFrom: Date): Promise<Dropped> {
  return transact(async (query): Promise<Dropped> => {
    const [turn] = await query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock(:lock) AS mine', {
      lock: RETENTION_LOCK,
    });
    if (turn?.mine !== true) return 'another_replica';
    const [oldest] = await partitions(query);
    if (oldest === undefined || oldest.to > keepFrom) return 'nothing_to_drop';
    await query(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
    await query('UPDATE usage_hourly_kept SET kept_from = greatest(kept_from, :to)', { to: oldest.to });
    // The name is one that ensurePartitions has made: the pattern below lets no other through.
    await query(`DROP TABLE ${oldest.name}`);
    return { partition: oldest.name };
  });
}

/** How many whole months from an instant on, its own left out, have a partition already. */
export async function monthsAhead(query: Query, now: Date): Promise<number> {
  const ahead = (await partitions(query)).filter(({ from }) => from > now);
  return ahead.length;
}

type Partition = { name: string; from: Date; to: Date };

/** The partitions by month, the oldest first. */
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
