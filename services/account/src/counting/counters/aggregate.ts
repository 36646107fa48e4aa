import { addCounters, usageHour } from '@tollgate/contracts/usage-stream';
import type { UsageCounters, UsageEvent } from '@tollgate/contracts/usage-stream';

/** Usage reported by another system, or recovered without its application. */
export const NO_APPLICATION = 0;

export type TotalRow = Pick<UsageEvent, 'period_id'> & UsageCounters;

export type HourlyRow = TotalRow &
  Pick<UsageEvent, 'account_id' | 'application_id' | 'api_version'> & {
    /** Start of the hour, milliseconds since the epoch. */
    hour_ms: number;
  };

export function sumTotals(events: readonly UsageEvent[]): TotalRow[] {
  return sumBy(
    events,
    ({ period_id }) => period_id,
    ({ period_id }) => ({ period_id }),
  );
}

export function sumHourly(events: readonly UsageEvent[]): HourlyRow[] {
  return sumBy(
    events,
    ({ period_id, account_id, application_id, api_version, at_ms }) =>
      [period_id, account_id, application_id, api_version, usageHour(at_ms)].join(' '),
    ({ period_id, account_id, application_id, api_version, at_ms }) => ({
      period_id,
      account_id,
      application_id,
      api_version,
      hour_ms: usageHour(at_ms),
    }),
  );
}

/** `nameOf` tells rows apart; `keyOf` is called once for each. */
function sumBy<Key>(
  events: readonly UsageEvent[],
  nameOf: (event: UsageEvent) => string | number,
  keyOf: (event: UsageEvent) => Key,
): (Key & UsageCounters)[] {
  const rows = new Map<string | number, Key & UsageCounters>();
  for (const event of events) {
    const name = nameOf(event);
    let row = rows.get(name);
    if (row === undefined) {
      row = { ...keyOf(event), points: 0, requests: 0, time_ms: 0, traffic_bytes: 0 };
      rows.set(name, row);
    }
    addCounters(row, event);
  }
  return [...rows.values()];
}
