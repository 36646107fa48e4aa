import type { Query } from '../../platform/database/query.ts';

/** How often a reader renews its lease, and learns of other readers. */
export const RENEWAL_INTERVAL_MS = 1_000;

/** The streams of a reader that died are read by the others once its lease has ended. A late renewal does no harm. */
const LEASE_MS = 2_000;

const FORGET_AFTER_MS = 60_000;

/** A lease that ends is looked at just after its end. */
const AFTER_END_MS = 20;

/** `nextLookMs`: when a lease of another reader may have ended, or this one's needs its renewal. */
export type OtherReaders = { ids: string[]; nextLookMs: number };

const LIVE_SQL = `SELECT reader_id,
    CAST(extract(epoch FROM alive_until - clock_timestamp()) * 1000 AS float8) AS rest_ms FROM usage_readers
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

/** Renews this reader's lease, and returns the other live readers. */
export async function renewLease(query: Query, readerId: string): Promise<OtherReaders> {
  const bindings = { readerId, leaseMs: LEASE_MS, forgetMs: FORGET_AFTER_MS };
  return othersOf(await query<ReaderRow>(RENEW_SQL, bindings, 'usage_renew_lease'));
}

/** Returns the other live readers. */
export async function findOtherReaders(query: Query, readerId: string): Promise<OtherReaders> {
  return othersOf(await query<ReaderRow>(LIVE_SQL, { readerId }));
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

type ReaderRow = { reader_id: string; rest_ms: number };

function othersOf(rows: readonly ReaderRow[]): OtherReaders {
  const soonestMs = Math.min(...rows.map(({ rest_ms }) => rest_ms)) + AFTER_END_MS;
  return {
    ids: rows.map(({ reader_id }) => reader_id),
    nextLookMs: Math.min(RENEWAL_INTERVAL_MS, Math.max(AFTER_END_MS, soonestMs)),
  };
}
