import { z } from 'zod';
import { MAX_EVENT_COUNTER, usageBatchSchema, usageEventSchema } from '@tollgate/contracts/usage-stream';
import type {
  OperationDocument,
  UsageBatch,
  UsageEvent,
  WrittenBefore,
} from '@tollgate/contracts/usage-stream';
import { batchField } from './stream-entry.ts';
import type { StreamEntry } from './stream-entry.ts';

export type UnassignedReason =
  | 'malformed_batch'
  | 'malformed_event'
  | 'implausible_time'
  | 'implausible_counter'
  | 'unknown_period'
  /** The period is another payer's: its id was assigned again after a rollback of Postgres. */
  | 'other_payers_period'
  | 'total_too_large'
  | 'refused_by_database';

export type Unassigned = {
  /** Null for the whole entry. */
  event_index: number | null;
  reason: UnassignedReason;
  raw: string;
};

type IndexedEvent = { index: number; event: UsageEvent };

export type BatchName = Pick<UsageBatch, 'gateway_id' | 'seq'> & {
  before: WrittenBefore | undefined;
  own: Pick<UsageEvent, 'requests' | 'points'>;
};

export type ReadEntry = {
  entry: StreamEntry;
  batch: BatchName | undefined;
  events: readonly IndexedEvent[];
  unassigned: readonly Unassigned[];
  documents: readonly OperationDocument[];
};

/** Hourly rows are kept for at least 14 whole months, which have at least 424 days (counting/retention/months.ts). */
const MAX_AGE_MS = 424 * 86_400_000;
const MAX_AHEAD_MS = 86_400_000;

const MAX_RAW_LENGTH = 16_384;

/** Events are parsed one by one, so that one bad event does not affect the others. */
const envelopeSchema = usageBatchSchema.extend({ events: z.array(z.unknown()).min(1) });

/** Never throws: what cannot be read is returned as unassigned. */
export function readEntry(entry: StreamEntry, nowMs: number): ReadEntry {
  const json = batchField(entry);
  const batch = json === undefined ? undefined : parseBatch(json);
  if (batch === undefined) return toUnassigned(entry, 'malformed_batch');
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
  const { gateway_id, seq, before, documents = [] } = batch;
  return { entry, batch: { gateway_id, seq, before, own }, events, unassigned, documents };
}

export function toUnassigned(entry: StreamEntry, reason: UnassignedReason, batch?: BatchName): ReadEntry {
  const raw = rawText(batchField(entry) ?? entry.fields);
  return { entry, batch, events: [], unassigned: [{ event_index: null, reason, raw }], documents: [] };
}

/** Text of bounded length without NUL, which Postgres cannot store. */
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

/** Whether a gateway can have measured this time. */
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
