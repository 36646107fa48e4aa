import type { Knex } from 'knex';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';

/** Any number that nothing else locks in this database. */
const PARTITION_LOCK = 7_462_003;

/** A month of usage_hourly: its partition's name and bounds, in UTC. */
type Month = { name: string; from: string; to: string };

/**
 * Makes the partitions of usage_hourly that the given instants (milliseconds since the epoch) fall into,
 * where they are missing. Several may do so at once. Reading and writing go on meanwhile, in partitions that are
 * there; to be called outside of a transaction that writes usage, which would keep the others waiting.
 */
export async function ensurePartitions(database: Knex, instantsMs: readonly number[]): Promise<void> {
  const months = new Map(instantsMs.map(monthOf).map((month) => [month.name, month]));
  if ((await missing(createQuery(database), [...months.keys()])).length === 0) return;
  await createTransact(database)(async (query) => {
    await query('SELECT pg_advisory_xact_lock(:lock)', { lock: PARTITION_LOCK });
    for (const name of await missing(query, [...months.keys()])) {
      const month = months.get(name);
      if (month !== undefined) await query(createPartition(month));
    }
  });
}

/**
 * By the catalogue's rows, which the statement's snapshot shows as they are: to_regclass answers from a cache
 * that isn't refreshed by waiting for an advisory lock, and missed what the lock's last holder had made.
 */
async function missing(query: Query, names: readonly string[]): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM unnest(:names::text[]) AS name
     WHERE NOT EXISTS (
       SELECT FROM pg_inherits JOIN pg_class AS partition ON partition.oid = inhrelid
       WHERE inhparent = 'usage_hourly'::regclass AND partition.relname = name)`,
    { names: [...names] },
  );
  return rows.map(({ name }) => name);
}

/**
 * Made beside the table and attached: `CREATE TABLE … PARTITION OF` would lock out everyone else for a moment, and
 * queue behind the longest reader first. Statements of this kind take no bindings; all their parts are made from
 * numbers in monthOf.
 */
function createPartition({ name, from, to }: Month): string {
  return `
    CREATE TABLE ${name} (LIKE usage_hourly INCLUDING ALL);
    ALTER TABLE usage_hourly ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`;
}

/** The month of usage_hourly that an instant falls into. */
function monthOf(instantMs: number): Month {
  const instant = new Date(instantMs);
  const [year, month] = [instant.getUTCFullYear(), instant.getUTCMonth()];
  const from = new Date(Date.UTC(year, month, 1)).toISOString();
  const to = new Date(Date.UTC(year, month + 1, 1)).toISOString();
  return { name: `usage_hourly_${from.slice(0, 4)}_${from.slice(5, 7)}`, from, to };
}
