import type { RangeName, UsageSearch } from './search.ts';

/** Days of UTC, both inclusive. */
export type Days = { from: string; to: string };

type Period = { started_at: string; ended_at: string };

/** What ranges depend on: the clock and the billing periods, newest first; undefined while they load. */
type Known = { nowMs: number; periods: readonly Period[] | undefined };

const DAY_MS = 86_400_000;

/** How long usage is kept (ADR 0028). */
const KEPT_MONTHS = 14;

/** The longest range by the hour (ADR 0028). */
const MAX_HOURLY_DAYS = 31;

export const dayOf = (instant: number | string) => new Date(instant).toISOString().slice(0, 10);

export function daysBetween({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
}

export function mayBeHourly(days: Days): boolean {
  return daysBetween(days) <= MAX_HOURLY_DAYS;
}

/** The first day of which usage is kept. */
export function earliestDay(nowMs: number): string {
  return monthsBefore(nowMs, KEPT_MONTHS);
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

/** The days of a billing period of which usage is kept; null without any. */
export function daysOfPeriod({ started_at, ended_at }: Period, nowMs: number): Days | null {
  const [today, earliest] = [dayOf(nowMs), earliestDay(nowMs)];
  const [from, to] = [dayOf(started_at), dayOf(ended_at)];
  if (to < earliest || from > today) return null;
  return { from: from > earliest ? from : earliest, to: to < today ? to : today };
}

function ofName(name: Exclude<RangeName, 'period' | 'previous'>, nowMs: number): Days {
  if (name === '12m') return { from: dayOf(Date.parse(monthsBefore(nowMs, 12)) + DAY_MS), to: dayOf(nowMs) };
  return lastDays(Number.parseInt(name, 10), nowMs);
}

function lastDays(days: number, nowMs: number): Days {
  return { from: dayOf(nowMs - (days - 1) * DAY_MS), to: dayOf(nowMs) };
}

/** The same day of an earlier month, or that month's last one. */
function monthsBefore(nowMs: number, months: number): string {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month, Math.min(now.getUTCDate(), lastDay)));
}
