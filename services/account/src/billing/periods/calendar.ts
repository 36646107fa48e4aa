import type { PeriodTimes } from './period-rules.ts';

export type BillingInterval = 'month' | 'year';

const MONTHS: Record<BillingInterval, number> = { month: 1, year: 12 };

const SECOND_MS = 1_000;

/** Counted from the anchor, so 31 March follows 28 February: a day that a month lacks becomes its last day. */
export function periodStart(anchor: Date, interval: BillingInterval, index: number): Date {
  const month = anchor.getUTCMonth() + index * MONTHS[interval];
  const lastDay = new Date(anchor);
  lastDay.setUTCFullYear(anchor.getUTCFullYear(), month + 1, 0);
  const start = new Date(anchor);
  start.setUTCFullYear(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), lastDay.getUTCDate()));
  return start;
}

export function periodAt(anchor: Date, interval: BillingInterval, instant: Date): PeriodTimes {
  const index = indexAt(anchor, interval, instant);
  return {
    started_at: periodStart(anchor, interval, index),
    ended_at: new Date(periodStart(anchor, interval, index + 1).getTime() - SECOND_MS),
  };
}

export type Calendar = { anchor: Date; billing_interval: BillingInterval };

/** What is left of the period from `start` on. A rest of less than `leastMs` is a part of the next period. */
export function periodFrom(
  start: Date,
  { anchor, billing_interval: interval }: Calendar,
  instant: Date,
  leastMs = SHORTEST_PERIOD_MS,
): PeriodTimes {
  const whole = periodAt(anchor, interval, instant);
  const started_at = start > whole.started_at ? start : whole.started_at;
  const restMs = secondAfter(whole).getTime() - started_at.getTime();
  const { ended_at } = restMs >= leastMs ? whole : periodAt(anchor, interval, secondAfter(whole));
  return { started_at, ended_at };
}

/** Whether periods of this calendar start at an instant. */
export function isPeriodStart({ anchor, billing_interval }: Calendar, instant: Date): boolean {
  return periodAt(anchor, billing_interval, instant).started_at.getTime() === instant.getTime();
}

function indexAt(anchor: Date, interval: BillingInterval, instant: Date): number {
  const years = instant.getUTCFullYear() - anchor.getUTCFullYear();
  const months = years * 12 + instant.getUTCMonth() - anchor.getUTCMonth();
  const index = Math.floor(months / MONTHS[interval]);
  return periodStart(anchor, interval, index) > instant ? index - 1 : index;
}

/** Its first and last second differ, as the database checks. */
export const SHORTEST_PERIOD_MS = 2 * SECOND_MS;

/** The second before now, so that the next period can begin now; but a period has at least two seconds. */
export function lastSecondBefore(now: Date, { started_at }: Pick<PeriodTimes, 'started_at'>): Date {
  return new Date(Math.max(now.getTime(), started_at.getTime() + SHORTEST_PERIOD_MS) - SECOND_MS);
}

export function secondBefore(instant: Date): Date {
  return new Date(instant.getTime() - SECOND_MS);
}

export function secondAfter({ ended_at }: Pick<PeriodTimes, 'ended_at'>): Date {
  return new Date(ended_at.getTime() + SECOND_MS);
}
