import { addDays, dayOf, daysBetween, daysOfPeriod, earliestDay, monthsBefore } from '../../ui/usage/days.ts';
import type { Days } from '../../ui/usage/days.ts';
import type { RangeName, UsageSearch } from './search.ts';

type Period = { started_at: string; ended_at: string };

/** What ranges depend on: the clock and the billing periods, newest first; undefined while they load. */
type Known = { nowMs: number; periods: readonly Period[] | undefined };

/** The longest range by the hour (docs/design/counting.md). */
const MAX_HOURLY_DAYS = 31;

export function mayBeHourly(days: Days): boolean {
  return daysBetween(days) <= MAX_HOURLY_DAYS;
}

/**
 * The days that the address asks for, within those that there are; null while it takes billing periods that are not
 * loaded. Days that cannot be shown and periods that do not exist are the default: the last 30 days.
 */
export function daysOf({ range, from, to }: UsageSearch, { nowMs, periods }: Known): Days | null {
  const today = dayOf(nowMs);
  const earliest = earliestDay(nowMs);
  if (from !== undefined && to !== undefined) {
    const isKept = from >= earliest && from <= today;
    return isKept ? { from, to: to < today ? to : today } : lastDays(30, nowMs);
  }
  if (range !== 'period' && range !== 'previous') return ofName(range ?? '30d', nowMs);
  if (periods === undefined) return null;
  const period = periods[range === 'period' ? 0 : 1];
  return (period === undefined ? null : daysOfPeriod(period, nowMs)) ?? lastDays(30, nowMs);
}

function ofName(name: Exclude<RangeName, 'period' | 'previous'>, nowMs: number): Days {
  if (name === '12m') return { from: addDays(monthsBefore(nowMs, 12), 1), to: dayOf(nowMs) };
  return lastDays(Number.parseInt(name, 10), nowMs);
}

function lastDays(days: number, nowMs: number): Days {
  return { from: addDays(dayOf(nowMs), 1 - days), to: dayOf(nowMs) };
}
