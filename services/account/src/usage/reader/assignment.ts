import type { Query } from '../../platform/database/query.ts';

/** How often a reader renews its lease, and learns of other readers. */
export const RENEWAL_INTERVAL_MS = 2_000;

/** The streams of a reader that died are read by the others after this and one RENEWAL_INTERVAL_MS. */
const LEASE_MS = 5_000;

const FORGET_AFTER_MS = 60_000;

const LIVE_SQL = `SELECT reader_id FROM usage_readers
  WHERE alive_until > clock_timestamp() AND reader_id <> :readerId`;

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
  ${LIVE_SQL}`;

/** Renews this reader's lease, and returns the ids of the other live readers. */
export async function renewLease(query: Query, readerId: string): Promise<string[]> {
  const bindings = { readerId, leaseMs: LEASE_MS, forgetMs: FORGET_AFTER_MS };
  return idsOf(await query<ReaderRow>(RENEW_SQL, bindings, 'usage_renew_lease'));
}

/** Returns the ids of the other live readers. */
export async function findOtherReaders(query: Query, readerId: string): Promise<string[]> {
  return idsOf(await query<ReaderRow>(LIVE_SQL, { readerId }));
}

/** Lets the others take over this reader's streams at once. */
export async function releaseLease(query: Query, readerId: string): Promise<void> {
  await query('DELETE FROM usage_readers WHERE reader_id = :readerId', { readerId });
}

/**
 * The streams assigned to this reader: all readers sort the live ones in the same way, and each takes every n-th
 * stream. While readers see different sets, a stream may have two readers or none; the positions in Postgres decide
 * who counts an entry.
 */
export function assignedStreams<T>(streams: readonly T[], readerId: string, others: readonly string[]): T[] {
  const readers = [...new Set([...others, readerId])].toSorted();
  const rank = readers.indexOf(readerId);
  return streams.filter((_, index) => index % readers.length === rank);
}

type ReaderRow = { reader_id: string };

function idsOf(rows: readonly ReaderRow[]): string[] {
  return rows.map(({ reader_id }) => reader_id);
}
