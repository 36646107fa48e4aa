import { z } from 'zod';
import { MAX_EVENT_COUNTER, usageBatchSchema, usageEventSchema } from '@tollgate/contracts/usage-stream';
import type { UsageBatch, UsageEvent, WrittenBefore } from '@tollgate/contracts/usage-stream';
import { batchField } from './stream-entry.ts';
import type { StreamEntry } from './stream-entry.ts';

/** Why something of a stream could not be counted. */
export type UnassignedReason =
  /** The entry holds no usage batch. */
  | 'malformed_batch'
  /** The event isn't one of the contract. */
  | 'malformed_event'
  /** The event's time is too far from now. */
  | 'implausible_time'
  /** A counter of the event is beyond what one call can use. */
  | 'implausible_counter'
  /** There is no such billing period. */
  | 'unknown_period'
  /** The period is another payer's: its id was given again after Postgres had been set back. */
  | 'other_payers_period'
  /** It would take a total of the period beyond MAX_TOTAL. */
  | 'total_too_large'
  /** Postgres refused what the entry would add. */
  | 'refused_by_database';

export type Unassigned = {
  /** The event's place in the batch; null for the whole entry. */
  event_index: number | null;
  reason: UnassignedReason;
  /** What came, as text that Postgres can hold. */
  raw: string;
};

type IndexedEvent = { index: number; event: UsageEvent };

/** Which batch it is, what its gateway had written to the stream before it, and what it adds to that. */
export type BatchName = Pick<UsageBatch, 'gateway_id' | 'seq'> & {
  before: WrittenBefore | undefined;
  own: Pick<UsageEvent, 'requests' | 'points'>;
};

/** An entry as far as it can be understood without the database. */
export type ReadEntry = {
  entry: StreamEntry;
  /** What names the batch; undefined where it couldn't be read. */
  batch: BatchName | undefined;
  events: readonly IndexedEvent[];
  unassigned: readonly Unassigned[];
};

/**
 * Hourly rows are kept for 14 whole months at least, which are never less than 424 days (usage/retention/months.ts);
 * a gateway's clock may be a little ahead.
 */
const MAX_AGE_MS = 424 * 86_400_000;
const MAX_AHEAD_MS = 86_400_000;

const MAX_RAW_LENGTH = 16_384;

/** The batch with its events yet unread, so that one bad event doesn't take the others with it. */
const envelopeSchema = usageBatchSchema.extend({ events: z.array(z.unknown()).min(1) });

/** Reads an entry. Never throws: what can't be read comes back as unassigned, with the reason. */
export function readEntry(entry: StreamEntry, nowMs: number): ReadEntry {
  const json = batchField(entry);
  const batch = json === undefined ? undefined : parseBatch(json);
  if (batch === undefined) return setAside(entry, 'malformed_batch');
  const events: IndexedEvent[] = [];
  const unassigned: Unassigned[] = [];
  const own = { requests: 0, points: 0 };
  for (const [index, candidate] of batch.events.entries()) {
    const event = usageEventSchema.safeParse(candidate);
    const reason = event.success ? implausible(event.data, nowMs) : 'malformed_event';
    own.requests += event.data?.requests ?? 0;
    own.points += event.data?.points ?? 0;
    if (event.success && reason === undefined) events.push({ index, event: event.data });
    else
      unassigned.push({ event_index: index, reason: reason ?? 'malformed_event', raw: rawText(candidate) });
  }
  const { gateway_id, seq, before } = batch;
  return { entry, batch: { gateway_id, seq, before, own }, events, unassigned };
}

/** The entry as one that isn't counted at all. */
export function setAside(entry: StreamEntry, reason: UnassignedReason, batch?: BatchName): ReadEntry {
  const raw = rawText(batchField(entry) ?? entry.fields);
  return { entry, batch, events: [], unassigned: [{ event_index: null, reason, raw }] };
}

/** What came, as text for a person to read: without NUL, which Postgres can't store, and of bounded length. */
export function rawText(value: unknown): string {
  return textOf(value).toWellFormed().replaceAll('\0', '\u{FFFD}').slice(0, MAX_RAW_LENGTH).toWellFormed();
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    return 'nested too deeply to be written down';
  }
}

function parseBatch(json: string): z.output<typeof envelopeSchema> | undefined {
  try {
    return envelopeSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/** Whether a gateway can have stated this time, as seen at another. */
export function isPlausibleTime(atMs: number, nowMs: number): boolean {
  return atMs >= nowMs - MAX_AGE_MS && atMs <= nowMs + MAX_AHEAD_MS;
}

function implausible(event: UsageEvent, nowMs: number): UnassignedReason | undefined {
  if (!isPlausibleTime(event.at_ms, nowMs)) return 'implausible_time';
  const { points, requests, time_ms, traffic_bytes } = event;
  return Math.max(points, requests, time_ms, traffic_bytes) > MAX_EVENT_COUNTER
    ? 'implausible_counter'
    : undefined;
}
