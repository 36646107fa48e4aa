import { addDays, dayOf, daysBetween, daysOfPeriod, earliestDay, monthsBefore } from '../../ui/usage/days.ts';
import type { Days } from '../../ui/usage/days.ts';
import type { RangeName, UsageSearch } from './search.ts';

export type Period = { period_id: number; started_at: string; ended_at: string };

/** What is shown: days, or a billing period, which has only its own part of its first and last day. */
export type Span = { days: Days; period: Period | null };

/**
 * What ranges depend on: the clock and the billing periods, the one that calls are charged to first; undefined while
 * they load.
 */
type Known = { nowMs: number; periods: readonly Period[] | undefined };

/** The longest range and billing period by the hour (docs/design/counting.md). */
const MAX_HOURLY_DAYS = 31;
const MAX_HOURLY_PERIOD_DAYS = 40;

export function mayBeHourly({ days, period }: Span): boolean {
  return daysBetween(days) <= (period === null ? MAX_HOURLY_DAYS : MAX_HOURLY_PERIOD_DAYS);
}

/**
 * What the address asks for, within what there is; null while it takes billing periods that are not loaded. Days that
 * cannot be shown and periods that do not exist are the default: the last 30 days.
 */
export function spanOf({ range, from, to, period: id }: UsageSearch, { nowMs, periods }: Known): Span | null {
  const today = dayOf(nowMs);
  const earliest = earliestDay(nowMs);
  if (from !== undefined && to !== undefined) {
    const isKept = from >= earliest && from <= today;
    return { days: isKept ? { from, to: to < today ? to : today } : lastDays(30, nowMs), period: null };
  }
  if (id === undefined && range !== 'period' && range !== 'previous') {
    return { days: ofName(range ?? '30d', nowMs), period: null };
  }
  if (periods === undefined) return null;
  const period =
    id === undefined
      ? periods[range === 'period' ? 0 : 1]
      : periods.find(({ period_id }) => period_id === id);
  const days = period === undefined ? null : daysOfPeriod(period, nowMs);
  if (period === undefined || days === null) return { days: lastDays(30, nowMs), period: null };
  return { days, period };
}

function ofName(name: Exclude<RangeName, 'period' | 'previous'>, nowMs: number): Days {
  if (name === '12m') return { from: addDays(monthsBefore(nowMs, 12), 1), to: dayOf(nowMs) };
  return lastDays(Number.parseInt(name, 10), nowMs);
}

function lastDays(days: number, nowMs: number): Days {
  return { from: addDays(dayOf(nowMs), 1 - days), to: dayOf(nowMs) };
}
