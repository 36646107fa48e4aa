import type { Knex } from 'knex';
import pg from 'pg';
import { sumHourly, sumTotals } from './aggregate.ts';
import { addToHourly, addToTotals, keepUnassigned, knownPeriods } from './counters.ts';
import { ensurePartitions } from './partitions.ts';
import { lockPositions, storePositions } from './positions.ts';
import type { Positions } from './positions.ts';
import { rawText, readEntry, setAside } from './read-entry.ts';
import type { IndexedEvent, ReadEntry, Unassigned, UnassignedReason } from './read-entry.ts';
import type { StreamEntry } from './stream-entry.ts';
import { compareStreamIds } from './stream-id.ts';

/** What a transaction has counted, and how far the streams are counted after it. */
export type Applied = {
  entries: number;
  events: number;
  unassigned: readonly UnassignedReason[];
  positions: Positions;
};

/**
 * Counts stream entries: totals, hourly rows and the new positions in one transaction, so that a crash at any
 * moment leaves either all of them or none, and an entry that another reader has counted is passed over.
 * An entry that Postgres refuses is kept as unassigned instead of stopping all that come after it.
 */
export async function applyEntries(
  database: Knex,
  entries: readonly StreamEntry[],
  nowMs: number,
): Promise<Applied> {
  const read = entries.map((entry) => readEntry(entry, nowMs));
  try {
    return await commitEntries(database, read);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  const applied: Applied[] = [];
  for (const one of read) applied.push(await commitOrSetAside(database, one));
  return {
    entries: sum(applied.map((part) => part.entries)),
    events: sum(applied.map((part) => part.events)),
    unassigned: applied.flatMap((part) => part.unassigned),
    positions: new Map(applied.flatMap((part) => [...part.positions])),
  };
}

async function commitOrSetAside(database: Knex, read: ReadEntry): Promise<Applied> {
  try {
    return await commitEntries(database, [read]);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return commitEntries(database, [setAside(read.entry, 'refused_by_database')]);
  }
}

/** A data, integrity or size error: this data will never pass. Any other error is no fault of the data. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '');
}

async function commitEntries(database: Knex, read: readonly ReadEntry[]): Promise<Applied> {
  await ensurePartitions(
    database,
    read.flatMap(({ events }) => events.map(({ event }) => event.at_ms)),
  );
  return database.transaction(async (transaction) => {
    const streams = [...new Set(read.map(({ entry }) => entry.stream))];
    const stored = await lockPositions(transaction, streams);
    const fresh = read.filter(
      ({ entry }) => compareStreamIds(entry.id, positionOf(stored, entry.stream)) > 0,
    );
    const positions = new Map(stored);
    for (const { entry } of fresh) positions.set(entry.stream, entry.id);
    if (fresh.length === 0) return { entries: 0, events: 0, unassigned: [], positions };

    const { events, unassigned } = await assign(transaction, fresh);
    if (events.length > 0) {
      await addToTotals(transaction, sumTotals(events));
      await addToHourly(transaction, sumHourly(events));
    }
    if (unassigned.length > 0) await keepUnassigned(transaction, unassigned);
    await storePositions(transaction, positions);
    const reasons = unassigned.map(({ reason }) => reason);
    return { entries: fresh.length, events: events.length, unassigned: reasons, positions };
  });
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

function positionOf(positions: Positions, stream: string): string {
  const position = positions.get(stream);
  // Without a row there is nothing to lock, and counting unlocked could count twice.
  if (position === undefined) throw new Error(`the position of stream ${stream} is missing`);
  return position;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
