import type { Knex } from 'knex';
import { usageHour } from '@tollgate/contracts/usage-stream';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';

/** Any number that nothing else locks in this database. */
const PARTITION_LOCK = 7_462_003;

type Month = { name: string; from: string; to: string };

/**
 * Creates missing partitions of usage_hourly for instants (milliseconds since the epoch). Reads and writes continue
 * meanwhile. Must not run in a transaction that writes usage, which would block the others.
 */
export async function ensurePartitions(database: Knex, instantsMs: readonly number[]): Promise<void> {
  // Thousands of instants are of few hours.
  const hoursMs = [...new Set(instantsMs.map(usageHour))];
  const months = new Map(hoursMs.map(monthOf).map((month) => [month.name, month]));
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
 * Reads the catalogue in the statement's snapshot: to_regclass uses a cache that waiting for an advisory lock does
 * not refresh, and missed partitions of the lock's last holder.
 */
async function missing(query: Query, names: readonly string[]): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM unnest(:names::text[]) AS name
     WHERE NOT EXISTS (
       SELECT FROM pg_inherits JOIN pg_class AS partition ON partition.oid = inhrelid
       WHERE inhparent = 'usage_hourly'::regclass AND partition.relname = name)`,
    { names: [...names] },
    'usage_missing_partitions',
  );
  return rows.map(({ name }) => name);
}

/**
 * Attached, as `CREATE TABLE … PARTITION OF` takes an exclusive lock and queues behind the longest reader. Such
 * statements take no bindings; all parts are made from numbers.
 */
function createPartition({ name, from, to }: Month): string {
  return `
    CREATE TABLE ${name} (LIKE usage_hourly INCLUDING ALL);
    ALTER TABLE usage_hourly ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`;
}

function monthOf(instantMs: number): Month {
  const instant = new Date(instantMs);
  const [year, month] = [instant.getUTCFullYear(), instant.getUTCMonth()];
  const from = new Date(Date.UTC(year, month, 1)).toISOString();
  const to = new Date(Date.UTC(year, month + 1, 1)).toISOString();
  return { name: `usage_hourly_${from.slice(0, 4)}_${from.slice(5, 7)}`, from, to };
}
