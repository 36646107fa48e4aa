import { MAX_EVENT_COUNTER, MAX_TOTAL, usageBatchSchema } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { isPlausibleTime } from '../reader/stream/read-entry.ts';
import type { UnassignedReason } from '../reader/stream/read-entry.ts';
import { readEvent } from '../gaps/recover-periods.ts';
import { streamIdMs } from '../reader/stream/stream-id.ts';

/** What was set aside, as the table holds it. */
export type UnassignedRow = {
  unassigned_id: number;
  recorded_at: Date;
  reason: UnassignedReason;
  stream: string;
  entry_id: string;
  event_index: number | null;
  raw: string;
  counted_at: Date | null;
  counted_period_id: number | null;
};

const EXPLANATIONS: Readonly<Record<string, string>> = {
  malformed_batch: 'The entry of the stream holds no usage batch. Something other than a gateway wrote it.',
  malformed_event: 'The event lacks a member, or one has a wrong type or a negative value.',
  implausible_time:
    "The event's time was more than a day ahead of account's clock or before the kept months. The gateway's clock was wrong.",
  implausible_counter: `A counter of the event is above ${String(MAX_EVENT_COUNTER)}, which no call can use.`,
  unknown_period: 'The billing period that the event names does not exist.',
  other_payers_period:
    'The billing period that the event names belongs to another payer: Postgres was restored and gave its id again.',
  total_too_large: `Counting the event would take a total of its billing period above ${String(MAX_TOTAL)}.`,
  refused_by_database: 'Postgres refused to store what the entry would add.',
} satisfies Record<UnassignedReason, string>;

export const REASONS = Object.keys(EXPLANATIONS) as [string, ...string[]];

/** Why it was set aside, in words. */
export function explain(reason: string): string {
  return EXPLANATIONS[reason] ?? 'Set aside by another version of Tollgate.';
}

/** The usage in what was set aside; null where it can't be read. A whole entry holds the events of its batch. */
export function eventsOf({
  event_index,
  raw,
}: Pick<UnassignedRow, 'event_index' | 'raw'>): UsageEvent[] | null {
  if (event_index === null) return readBatch(raw);
  const event = readEvent(raw);
  return event === undefined ? null : [event];
}

function readBatch(raw: string): UsageEvent[] | null {
  try {
    return usageBatchSchema.safeParse(JSON.parse(raw)).data?.events ?? null;
  } catch {
    return null;
  }
}

/**
 * When the event is counted as used: at its own time where a gateway can have stated that, else when Redis took the
 * entry, by its clock, else when it was set aside. Not before the hours that are kept.
 */
export function effectiveTime(
  { at_ms }: Pick<UsageEvent, 'at_ms'>,
  { entry_id, recorded_at }: Pick<UnassignedRow, 'entry_id' | 'recorded_at'>,
  keptFrom: Date,
): Date {
  const ms = [at_ms, streamIdMs(entry_id)].find(
    (candidate) => candidate >= keptFrom.getTime() && isPlausibleTime(candidate, recorded_at.getTime()),
  );
  return ms === undefined ? recorded_at : new Date(ms);
}
