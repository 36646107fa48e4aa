import { MAX_EVENT_COUNTER, MAX_TOTAL, usageBatchSchema } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { isPlausibleTime } from '../stream/read-entry.ts';
import type { UnassignedReason } from '../stream/read-entry.ts';
import { readEvent } from '../gaps/recover-periods.ts';
import { streamIdMs } from '../stream/stream-id.ts';

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
  malformed_batch: 'The stream entry contains no usage batch. It was not written by a gateway.',
  malformed_event: 'A field of the event is missing, negative or of the wrong type.',
  implausible_time:
    "The event's time was more than a day in the future or before the retained months. The gateway's clock was wrong.",
  implausible_counter: `A counter of the event is above ${String(MAX_EVENT_COUNTER)}, which no call can use.`,
  unknown_period: 'The billing period that the event names does not exist.',
  other_payers_period:
    'The billing period that the event names belongs to another payer: Postgres was restored and gave its id again.',
  total_too_large: `Counting the event would take a total of its billing period above ${String(MAX_TOTAL)}.`,
  refused_by_database: 'Postgres refused to store what the entry would add.',
} satisfies Record<UnassignedReason, string>;

export const REASONS = Object.keys(EXPLANATIONS) as [string, ...string[]];

export function explain(reason: string): string {
  return EXPLANATIONS[reason] ?? 'Recorded by another version of Tollgate.';
}

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
 * When the event counts as used: its own time if plausible, else when Redis added the entry, else when it was
 * recorded; never before the kept hours.
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
