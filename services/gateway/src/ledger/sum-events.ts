import { MAX_EVENT_COUNTER, addCounters, usageHour } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';

/**
 * Sums events of the same hourly row and period (docs/design/settlement.md), in order of first occurrence and with its
 * time.
 */
export function sumEvents(events: readonly UsageEvent[]): UsageEvent[] {
  const sums: UsageEvent[] = [];
  const open = new Map<string, UsageEvent>();
  for (const event of events) {
    const row = rowOf(event);
    const sum = open.get(row);
    if (sum !== undefined && isPlausible(sum, event)) addCounters(sum, event);
    else {
      const begun = { ...event };
      open.set(row, begun);
      sums.push(begun);
    }
  }
  return sums;
}

function rowOf({ payer_id, period_id, account_id, application_id, api_version, at_ms }: UsageEvent): string {
  return [payer_id, period_id, account_id, application_id, api_version, usageHour(at_ms)].join(' ');
}

function isPlausible(sum: UsageEvent, event: UsageEvent): boolean {
  return (
    sum.points + event.points <= MAX_EVENT_COUNTER &&
    sum.requests + event.requests <= MAX_EVENT_COUNTER &&
    sum.time_ms + event.time_ms <= MAX_EVENT_COUNTER &&
    sum.traffic_bytes + event.traffic_bytes <= MAX_EVENT_COUNTER
  );
}
