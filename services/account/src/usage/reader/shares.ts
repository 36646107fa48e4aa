import type { Query } from '../../platform/database/query.ts';

/**
 * How long a replica that says nothing more counts as living. A dead one's streams are read by the others after
 * this and one RENEWAL_INTERVAL_MS.
 */
const LEASE_MS = 5_000;

export const RENEWAL_INTERVAL_MS = 1_000;

/** Rows of readers that have long been gone are removed by those that live. */
const FORGET_AFTER_MS = 60_000;

const LIVING_SQL = `SELECT reader_id FROM usage_readers
  WHERE alive_until > clock_timestamp() AND reader_id <> :readerId`;

/** By Postgres' clock, which all replicas share. */
const RENEW_SQL = `
  WITH own AS (
    INSERT INTO usage_readers (reader_id, alive_until)
    VALUES (:readerId, clock_timestamp() + :leaseMs * interval '1 millisecond')
    ON CONFLICT (reader_id) DO UPDATE SET alive_until = excluded.alive_until
  ), gone AS (
    DELETE FROM usage_readers WHERE reader_id IN (
      SELECT reader_id FROM usage_readers
      WHERE alive_until < clock_timestamp() - :forgetMs * interval '1 millisecond'
      FOR UPDATE SKIP LOCKED)
  )
  ${LIVING_SQL}`;

/** Says that this reader lives, and gives the other living ones. */
export async function renewShare(query: Query, readerId: string): Promise<string[]> {
  const bindings = { readerId, leaseMs: LEASE_MS, forgetMs: FORGET_AFTER_MS };
  return idsOf(await query<ReaderRow>(RENEW_SQL, bindings));
}

/** The other living readers, without saying that this one lives. */
export async function otherReaders(query: Query, readerId: string): Promise<string[]> {
  return idsOf(await query<ReaderRow>(LIVING_SQL, { readerId }));
}

/** Leaves what this reader has to the others at once. */
export async function giveUpShare(query: Query, readerId: string): Promise<void> {
  await query('DELETE FROM usage_readers WHERE reader_id = :readerId', { readerId });
}

/**
 * This reader's share of the streams: every reader sorts the living ones in the same way, and takes each n-th
 * stream. Readers that see different ones for a moment read some streams twice or not at all in it; neither
 * costs more than that moment, since the positions in Postgres decide who counts an entry.
 */
export function shareOf<T>(streams: readonly T[], readerId: string, others: readonly string[]): T[] {
  const readers = [...new Set([...others, readerId])].toSorted();
  const place = readers.indexOf(readerId);
  return streams.filter((_, index) => index % readers.length === place);
}

type ReaderRow = { reader_id: string };

function idsOf(rows: readonly ReaderRow[]): string[] {
  return rows.map(({ reader_id }) => reader_id);
}
