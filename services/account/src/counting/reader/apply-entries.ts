import type { Knex } from 'knex';
import { addCounters } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { noteApplicationUses } from '../../access/applications/uses.ts';
import { recordPassedCuts } from '../../billing/credits/cuts.ts';
import type { CountedPoints, Cut } from '../../billing/credits/cuts.ts';
import { fitsIn } from '../../billing/periods/usage-sums.ts';
import { createTransact, sqlState } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { sumHourly, sumTotals } from '../counters/aggregate.ts';
import { addToHourly, addToTotals, findPeriods, insertUnassigned } from '../counters/counters.ts';
import type { FoundPeriod } from '../counters/counters.ts';
import { addToOperations, keepDocuments } from '../operations/store.ts';
import { sumOperations } from '../operations/sum-operations.ts';
import { insertMissingBatches } from '../gaps/gaps.ts';
import type { MissingBatches } from '../gaps/gaps.ts';
import { loadSequences, deduplicate, storeSequences } from '../gaps/gateway-sequences.ts';
import { ensurePartitions } from '../retention/partitions.ts';
import { lockPositions, storePositions } from '../stream/positions.ts';
import type { Positions } from '../stream/positions.ts';
import { rawText, readEntry, toUnassigned } from '../stream/read-entry.ts';
import type { ReadEntry, Unassigned, UnassignedReason } from '../stream/read-entry.ts';
import type { StreamEntry } from '../stream/stream-entry.ts';
import { compareStreamIds, streamIdMs } from '../stream/stream-id.ts';

export type StreamPart = {
  stream: string;
  after: string;
  trimmed: string | undefined;
  entries: readonly StreamEntry[];
};

export type Applied = {
  entries: number;
  events: number;
  /** Batches counted before, under another entry id. */
  repeated: number;
  unassigned: readonly UnassignedReason[];
  missing: readonly MissingBatches[];
  /** Without streams that failed or that another reader is counting. */
  positions: Positions;
  failed: ReadonlyMap<string, unknown>;
};

type Accepted = { event: UsageEvent; id: string };

/** The end of 9999: an ID can be later than any date. */
const LAST_CUT_MS = Date.UTC(9999, 11, 31);

type ReadPart = Omit<StreamPart, 'entries'> & { read: readonly ReadEntry[] };

/**
 * Counts entries: totals, hourly rows, the gateways' sequence numbers and the positions change in one transaction, so
 * that a crash leaves all or none, and entries counted by another reader are skipped. If that fails for data of some
 * streams, each stream has its own transaction, and an entry that Postgres refuses becomes unassigned.
 */
export async function applyEntries(
  database: Knex,
  parts: readonly StreamPart[],
  nowMs: number,
): Promise<Applied> {
  const read = parts.map(({ entries, ...part }) => ({
    ...part,
    read: entries.map((entry) => readEntry(entry, nowMs)),
  }));
  try {
    return await commitParts(database, read);
  } catch (error) {
    if (!isStreamSpecific(error)) return failedParts(read, error);
    const applied: Applied[] = [];
    for (const part of read) applied.push(await commitOne(database, part));
    return mergeApplied(applied);
  }
}

async function commitOne(database: Knex, part: ReadPart): Promise<Applied> {
  try {
    return await commitParts(database, [part]);
  } catch (error) {
    return isDataError(error) ? commitEntryByEntry(database, part) : failedParts([part], error);
  }
}

async function commitEntryByEntry(database: Knex, { read, ...whole }: ReadPart): Promise<Applied> {
  const applied: Applied[] = [];
  let reached: string | undefined = whole.after;
  for (const entry of read) {
    const part: ReadPart = { ...whole, after: reached, read: [entry] };
    const one = await commitOrUnassign(database, part, entry);
    applied.push(one);
    reached = one.positions.get(whole.stream);
    // Counting the next entry would move the position past this one.
    if (reached === undefined || one.failed.size > 0) break;
  }
  return mergeApplied(applied);
}

/** Unassigned under the batch's name, so that it is no gap, unless Postgres refuses the name. */
async function commitOrUnassign(database: Knex, part: ReadPart, read: ReadEntry): Promise<Applied> {
  const { entry, batch } = read;
  let error: unknown;
  for (const attempt of [
    read,
    toUnassigned(entry, 'refused_by_database', batch),
    toUnassigned(entry, 'refused_by_database'),
  ]) {
    try {
      return await commitParts(database, [{ ...part, read: [attempt] }]);
    } catch (refusal) {
      error = refusal;
      if (!isDataError(refusal)) break;
    }
  }
  return failedParts([part], error);
}

/** A data, integrity or size error: a retry cannot succeed. */
function isDataError(error: unknown): boolean {
  return /^(22|23|54)/.test(sqlState(error) ?? '');
}

/** An error that other streams may not have: also a lock or statement timeout, or a deadlock. */
function isStreamSpecific(error: unknown): boolean {
  return isDataError(error) || /^(40|55P03|57014)/.test(sqlState(error) ?? '');
}

async function commitParts(database: Knex, parts: readonly ReadPart[]): Promise<Applied> {
  const instantsMs = parts.flatMap(({ read }) =>
    read.flatMap(({ events }) => events.map(({ event }) => event.at_ms)),
  );
  await ensurePartitions(database, instantsMs);
  return createTransact(database)(async (query) => {
    const stored = await lockPositions(
      query,
      parts.map(({ stream }) => stream),
    );
    const uncounted = parts.flatMap((part) => uncountedEntries(part, stored.get(part.stream)));
    const positions = new Map(stored);
    for (const { entry } of uncounted) positions.set(entry.stream, entry.id);
    if (uncounted.length === 0) return { ...NOTHING, positions };

    const last = await loadSequences(query, uncounted);
    const { fresh, repeated, reached, missing } = deduplicate(uncounted, last, Date.now());
    const { accepted, cuts, unassigned } = await assign(query, fresh);
    const events = accepted.map(({ event }) => event);
    if (cuts.length > 0) await recordPassedCuts(query, cuts, accepted.map(countedPoints));
    if (events.length > 0) {
      await addToTotals(query, sumTotals(events));
      await addToHourly(query, sumHourly(events));
      await addToOperations(query, sumOperations(events));
      await noteApplicationUses(query, events);
    }
    const documents = fresh.flatMap((read) => read.documents);
    if (documents.length > 0) await keepDocuments(query, documents);
    if (unassigned.length > 0) await insertUnassigned(query, unassigned);
    if (missing.length > 0) await insertMissingBatches(query, missing);
    if (reached.length > 0) await storeSequences(query, reached);
    const trimmed = new Map(parts.map((part) => [part.stream, part.trimmed]));
    await storePositions(query, positions, trimmed);
    return {
      ...NOTHING,
      entries: uncounted.length,
      events: events.length,
      repeated: repeated.length,
      unassigned: unassigned.map(({ reason }) => reason),
      missing,
      positions,
    };
  });
}

/**
 * None if the stored position is before the one that was read from, as after a rollback: what lies between must be
 * read first.
 */
function uncountedEntries({ after, read }: ReadPart, stored: string | undefined): ReadEntry[] {
  if (stored === undefined || compareStreamIds(stored, after) < 0) return [];
  return read.filter(({ entry }) => compareStreamIds(entry.id, stored) > 0);
}

async function assign(query: Query, read: readonly ReadEntry[]) {
  const ids = new Set(read.flatMap(({ events }) => events.map(({ event }) => event.period_id)));
  const newestMs = Math.max(0, ...read.map(({ entry }) => streamIdMs(entry.id)));
  const periods = await findPeriods(query, [...ids], new Date(Math.min(newestMs, LAST_CUT_MS)));
  const refuse = (event: UsageEvent): UnassignedReason | undefined => {
    const period = periods.get(event.period_id);
    if (period === undefined) return 'unknown_period';
    if (period.payer_id !== event.payer_id) return 'other_payers_period';
    if (!fitsIn(period, event)) return 'total_too_large';
    addCounters(period, event);
    return undefined;
  };
  const accepted: Accepted[] = [];
  const unassigned = read.flatMap(({ entry: { stream, id }, ...one }) => {
    const refused: Unassigned[] = one.events.flatMap(({ index, event }) => {
      const reason = refuse(event);
      if (reason !== undefined) return { event_index: index, reason, raw: rawText(event) };
      accepted.push({ event, id });
      return [];
    });
    return [...one.unassigned, ...refused].map((kept) => ({ stream, id, ...kept }));
  });
  return { accepted, cuts: cutsOf(periods), unassigned };
}

function countedPoints({ event: { period_id, payer_id, points }, id }: Accepted): CountedPoints {
  return { period_id, payer_id, points, entryMs: streamIdMs(id) };
}

/** Once for each payer, of which several periods may be counted. */
function cutsOf(periods: ReadonlyMap<number, FoundPeriod>): Cut[] {
  const byPayer = new Map([...periods.values()].map(({ payer_id, cuts }) => [payer_id, cuts]));
  return [...byPayer].flatMap(([account_id, cuts]) => cuts.map((at) => ({ account_id, at })));
}

const NOTHING: Applied = {
  entries: 0,
  events: 0,
  repeated: 0,
  unassigned: [],
  missing: [],
  positions: new Map(),
  failed: new Map(),
};

function failedParts(parts: readonly Pick<ReadPart, 'stream'>[], error: unknown): Applied {
  return { ...NOTHING, failed: new Map(parts.map(({ stream }) => [stream, error])) };
}

function mergeApplied(applied: readonly Applied[]): Applied {
  const sum = (field: 'entries' | 'events' | 'repeated') =>
    applied.reduce((total, part) => total + part[field], 0);
  return {
    entries: sum('entries'),
    events: sum('events'),
    repeated: sum('repeated'),
    unassigned: applied.flatMap(({ unassigned }) => unassigned),
    missing: applied.flatMap(({ missing }) => missing),
    positions: new Map(applied.flatMap(({ positions }) => [...positions])),
    failed: new Map(applied.flatMap(({ failed }) => [...failed])),
  };
}
