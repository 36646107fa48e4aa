import { MAX_EVENT_COUNTER, addCounters, usageHour } from '@tollgate/contracts/usage-stream';
import type { UsageCounters, UsageEvent } from '@tollgate/contracts/usage-stream';
import { createOperationSums } from './sum-operations.ts';
import type { OperationSums } from './sum-operations.ts';
import type { TimedUsage } from './usage-event.ts';

/**
 * Sums events of the same hourly row and period (docs/design/settlement.md), in order of first occurrence and with its
 * time.
 */
export function sumEvents(events: readonly TimedUsage[]): UsageEvent[] {
  const sums: Sum[] = [];
  const open = new Map<string, Sum>();
  for (const event of events) {
    const row = rowOf(event);
    let sum = open.get(row);
    if (sum !== undefined && isPlausible(sum.event, event)) addCounters(sum.event, event);
    else {
      const { operation: _, ...begun } = event;
      sum = { event: begun, byOperation: createOperationSums() };
      open.set(row, sum);
      sums.push(sum);
    }
    sum.byOperation.add(event);
  }
  return sums.map(({ event, byOperation }) => {
    const operations = byOperation.operations();
    return operations.length === 0 ? event : { ...event, operations };
  });
}

type Sum = { event: UsageEvent; byOperation: OperationSums };

function rowOf({ payer_id, period_id, account_id, application_id, api_version, at_ms }: TimedUsage): string {
  return [payer_id, period_id, account_id, application_id, api_version, usageHour(at_ms)].join(' ');
}

function isPlausible(sum: UsageCounters, event: UsageCounters): boolean {
  return (
    sum.points + event.points <= MAX_EVENT_COUNTER &&
    sum.requests + event.requests <= MAX_EVENT_COUNTER &&
    sum.time_ms + event.time_ms <= MAX_EVENT_COUNTER &&
    sum.traffic_bytes + event.traffic_bytes <= MAX_EVENT_COUNTER
  );
}
