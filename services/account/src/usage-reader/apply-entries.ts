import type { Knex } from 'knex';
import pg from 'pg';
import { sumHourly, sumTotals } from './aggregate.ts';
import { addToHourly, addToTotals, keepUnassigned, knownPeriods } from './counters.ts';
import { loadSequences, partRepeated, storeSequences } from './gateway-sequences.ts';
import { ensurePartitions } from './partitions.ts';
import { lockPositions, storePositions } from './positions.ts';
import type { Positions } from './positions.ts';
import { rawText, readEntry, setAside } from './read-entry.ts';
import type { IndexedEvent, ReadEntry, Unassigned, UnassignedReason } from './read-entry.ts';
import type { StreamEntry } from './stream-entry.ts';
import { compareStreamIds } from './stream-id.ts';

/** The entries of one stream that follow a position, without a gap. */
export type StreamPart = { stream: string; after: string; entries: readonly StreamEntry[] };

/** What transactions have counted, and how far the streams are counted after them. */
export type Applied = {
  entries: number;
  events: number;
  /** Batches that were counted before, under another entry's id. */
  repeated: number;
  unassigned: readonly UnassignedReason[];
  /** Without the streams that another reader is counting, and those that failed. */
  positions: Positions;
  /** Streams that couldn't be counted now, and why. */
  failed: ReadonlyMap<string, unknown>;
};

type ReadPart = { stream: string; after: string; read: readonly ReadEntry[] };

/**
 * Counts stream entries: totals, hourly rows, the gateways' last numbers and the new positions in one
 * transaction, so that a crash at any moment leaves either all of them or none, and an entry that another reader
 * has counted is passed over. Streams that Postgres can't take together are taken one by one, so that none holds
 * up another, and an entry that it refuses is kept as unassigned instead of stopping all that come after it.
 */
export async function applyEntries(
  database: Knex,
  parts: readonly StreamPart[],
  nowMs: number,
): Promise<Applied> {
  const read = parts.map(({ stream, after, entries }) => ({
    stream,
    after,
    read: entries.map((entry) => readEntry(entry, nowMs)),
  }));
  try {
    return await commitParts(database, read);
  } catch (error) {
    if (!isOfSomeStream(error)) return failedParts(read, error);
    const applied: Applied[] = [];
    for (const part of read) applied.push(await commitOne(database, part));
    return together(applied);
  }
}

async function commitOne(database: Knex, part: ReadPart): Promise<Applied> {
  try {
    return await commitParts(database, [part]);
  } catch (error) {
    return isRefusal(error) ? commitEntryByEntry(database, part) : failedParts([part], error);
  }
}

async function commitEntryByEntry(database: Knex, { stream, after, read }: ReadPart): Promise<Applied> {
  const applied: Applied[] = [];
  let reached: string | undefined = after;
  for (const entry of read) {
    const part: ReadPart = { stream, after: reached, read: [entry] };
    const one = await commitOrSetAside(database, part, entry);
    applied.push(one);
    reached = one.positions.get(stream);
    // Counting the next entry would put the position behind one that is not counted.
    if (reached === undefined || one.failed.size > 0) break;
  }
  return together(applied);
}

async function commitOrSetAside(database: Knex, part: ReadPart, { entry }: ReadEntry): Promise<Applied> {
  try {
    return await commitParts(database, [part]);
  } catch (error) {
    if (!isRefusal(error)) return failedParts([part], error);
  }
  try {
    return await commitParts(database, [{ ...part, read: [setAside(entry, 'refused_by_database')] }]);
  } catch (error) {
    return failedParts([part], error);
  }
}

/** A data, integrity or size error: this data will never pass. Any other error is no fault of the data. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '');
}

/** An error that some streams may be without: also a lock or a statement that took too long, or a deadlock. */
function isOfSomeStream(error: unknown): boolean {
  return (
    isRefusal(error) || (error instanceof pg.DatabaseError && /^(40|55P03|57014)/.test(error.code ?? ''))
  );
}

async function commitParts(database: Knex, parts: readonly ReadPart[]): Promise<Applied> {
  const instantsMs = parts.flatMap(({ read }) =>
    read.flatMap(({ events }) => events.map(({ event }) => event.at_ms)),
  );
  await ensurePartitions(database, instantsMs);
  return database.transaction(async (transaction) => {
    const stored = await lockPositions(
      transaction,
      parts.map(({ stream }) => stream),
    );
    const uncounted = parts.flatMap((part) => uncountedEntries(part, stored.get(part.stream)));
    const positions = new Map(stored);
    for (const { entry } of uncounted) positions.set(entry.stream, entry.id);
    if (uncounted.length === 0) return { ...NOTHING, positions };

    const { fresh, repeated, reached } = partRepeated(uncounted, await loadSequences(transaction, uncounted));
    const { events, unassigned } = await assign(transaction, fresh);
    if (events.length > 0) {
      await addToTotals(transaction, sumTotals(events));
      await addToHourly(transaction, sumHourly(events));
    }
    if (unassigned.length > 0) await keepUnassigned(transaction, unassigned);
    if (reached.length > 0) await storeSequences(transaction, reached);
    await storePositions(transaction, positions);
    return {
      ...NOTHING,
      entries: uncounted.length,
      events: events.length,
      repeated: repeated.length,
      unassigned: unassigned.map(({ reason }) => reason),
      positions,
    };
  });
}

/**
 * The entries after the stored position. None where it is before the position that they were read from, as in a
 * database that was set back: they must be read again from there, or what lies between would be lost.
 */
function uncountedEntries({ after, read }: ReadPart, stored: string | undefined): ReadEntry[] {
  if (stored === undefined || compareStreamIds(stored, after) < 0) return [];
  return read.filter(({ entry }) => compareStreamIds(entry.id, stored) > 0);
}

/** Parts the events whose billing period exists from everything that can't be counted. */
async function assign(transaction: Knex, read: readonly ReadEntry[]) {
  const ids = new Set(read.flatMap(({ events }) => events.map(({ event }) => event.period_id)));
  const known = await knownPeriods(transaction, [...ids]);
  const isKnown = ({ event }: IndexedEvent) => known.has(event.period_id);
  return {
    events: read.flatMap(({ events }) => events.filter(isKnown).map(({ event }) => event)),
    unassigned: read.flatMap(({ entry: { stream, id }, events, unassigned }) =>
      [...unassigned, ...events.filter((event) => !isKnown(event)).map(unknownPeriod)].map((one) => ({
        stream,
        id,
        ...one,
      })),
    ),
  };
}

function unknownPeriod({ index, event }: IndexedEvent): Unassigned {
  return { event_index: index, reason: 'unknown_period', raw: rawText(event) };
}

const NOTHING: Applied = {
  entries: 0,
  events: 0,
  repeated: 0,
  unassigned: [],
  positions: new Map(),
  failed: new Map(),
};

function failedParts(parts: readonly Pick<ReadPart, 'stream'>[], error: unknown): Applied {
  return { ...NOTHING, failed: new Map(parts.map(({ stream }) => [stream, error])) };
}

function together(applied: readonly Applied[]): Applied {
  const sum = (field: 'entries' | 'events' | 'repeated') =>
    applied.reduce((total, part) => total + part[field], 0);
  return {
    entries: sum('entries'),
    events: sum('events'),
    repeated: sum('repeated'),
    unassigned: applied.flatMap(({ unassigned }) => unassigned),
    positions: new Map(applied.flatMap(({ positions }) => [...positions])),
    failed: new Map(applied.flatMap(({ failed }) => [...failed])),
  };
}
