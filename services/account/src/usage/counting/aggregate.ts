import { addCounters, usageHour } from '@tollgate/contracts/usage-stream';
import type { UsageCounters, UsageEvent } from '@tollgate/contracts/usage-stream';

/** Usage of no application: of another system, or recovered without saying whose it was. */
export const NO_APPLICATION = 0;

/** What events add to one period's total. */
export type TotalRow = Pick<UsageEvent, 'period_id'> & UsageCounters;

/** What events add to one hourly row. */
export type HourlyRow = TotalRow &
  Pick<UsageEvent, 'account_id' | 'application_id' | 'api_version'> & {
    /** Start of the hour, milliseconds since the epoch. */
    hour_ms: number;
  };

/** Sums events by billing period. */
export function sumTotals(events: readonly UsageEvent[]): TotalRow[] {
  return sumBy(events, ({ period_id }) => ({ period_id }));
}

/** Sums events by the key of an hourly row. */
export function sumHourly(events: readonly UsageEvent[]): HourlyRow[] {
  return sumBy(events, ({ period_id, account_id, application_id, api_version, at_ms }) => ({
    period_id,
    account_id,
    application_id,
    api_version,
    hour_ms: usageHour(at_ms),
  }));
}

function sumBy<Key extends Record<string, string | number>>(
  events: readonly UsageEvent[],
  keyOf: (event: UsageEvent) => Key,
): (Key & UsageCounters)[] {
  const rows = new Map<string, Key & UsageCounters>();
  for (const event of events) {
    const key = keyOf(event);
    const name = Object.values(key).join(' ');
    const row = rows.get(name) ?? { ...key, points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 };
    addCounters(row, event);
    rows.set(name, row);
  }
  return [...rows.values()];
}
