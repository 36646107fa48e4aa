/** Days of UTC, both inclusive. */
export type Days = { from: string; to: string };

const DAY_MS = 86_400_000;

/** How long usage is kept (docs/design/counting.md). */
const KEPT_MONTHS = 14;

/** The day of UTC, as `2026-11-01`. */
export const dayOf = (instant: number | string) => new Date(instant).toISOString().slice(0, 10);

export const addDays = (day: string, days: number) => dayOf(Date.parse(day) + days * DAY_MS);

export function daysBetween({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
}

/** The first day of which usage is kept. */
export function earliestDay(nowMs: number): string {
  return monthsBefore(nowMs, KEPT_MONTHS);
}

/** The days of a billing period of which usage is kept, up to today; null without any. */
export function daysOfPeriod(period: { started_at: string; ended_at: string }, nowMs: number): Days | null {
  const [today, earliest] = [dayOf(nowMs), earliestDay(nowMs)];
  const [from, to] = [dayOf(period.started_at), dayOf(period.ended_at)];
  if (to < earliest || from > today) return null;
  return { from: from > earliest ? from : earliest, to: to < today ? to : today };
}

/** The same day of an earlier month, or that month's last one. */
export function monthsBefore(nowMs: number, months: number): string {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month, Math.min(now.getUTCDate(), lastDay)));
}
