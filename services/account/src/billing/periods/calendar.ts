import type { PeriodTimes } from './period-rules.ts';

/** When the periods of a subscription begin and end, in UTC, without SQL and without a clock. */

export type BillingInterval = 'month' | 'year';

const MONTHS: Record<BillingInterval, number> = { month: 1, year: 12 };

const SECOND_MS = 1_000;

/**
 * When the n-th period begins; the one at the anchor is number 0. Counted from the anchor each time, and never
 * from the period before: after 31 January and 28 February comes 31 March. A day that a month doesn't have
 * becomes its last one, so does 29 February in a year that isn't a leap year.
 */
export function periodStart(anchor: Date, interval: BillingInterval, index: number): Date {
  const month = anchor.getUTCMonth() + index * MONTHS[interval];
  const lastDay = new Date(anchor);
  // The day before a month's first is the last of the month before.
  lastDay.setUTCFullYear(anchor.getUTCFullYear(), month + 1, 0);
  const start = new Date(anchor);
  start.setUTCFullYear(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), lastDay.getUTCDate()));
  return start;
}

/** The period that covers an instant at or after the anchor. Its end is the last second before the next begins. */
export function periodAt(anchor: Date, interval: BillingInterval, instant: Date): PeriodTimes {
  const index = indexAt(anchor, interval, instant);
  return {
    started_at: periodStart(anchor, interval, index),
    ended_at: new Date(periodStart(anchor, interval, index + 1).getTime() - SECOND_MS),
  };
}

/**
 * The same, but from no earlier than `start`: what is left of the period that covers the instant. A single second
 * that would be left is no period of its own, and goes with the next.
 */
export function periodFrom(
  start: Date,
  { anchor, billing_interval: interval }: { anchor: Date; billing_interval: BillingInterval },
  instant: Date,
): PeriodTimes {
  const whole = periodAt(anchor, interval, instant);
  const started_at = start > whole.started_at ? start : whole.started_at;
  const { ended_at } = whole.ended_at > started_at ? whole : periodAt(anchor, interval, secondAfter(whole));
  return { started_at, ended_at };
}

function indexAt(anchor: Date, interval: BillingInterval, instant: Date): number {
  const years = instant.getUTCFullYear() - anchor.getUTCFullYear();
  const months = years * 12 + instant.getUTCMonth() - anchor.getUTCMonth();
  // Within the instant's own month or year the period may not have begun yet.
  const index = Math.floor(months / MONTHS[interval]);
  return periodStart(anchor, interval, index) > instant ? index - 1 : index;
}

/**
 * The last second of a period that is to end now: the second before this one, so that the next may begin with
 * this one; but a period is never shorter than the two seconds that it takes to have a start and an end.
 */
export function lastSecondBefore(now: Date, { started_at }: Pick<PeriodTimes, 'started_at'>): Date {
  return new Date(Math.max(now.getTime() - SECOND_MS, started_at.getTime() + SECOND_MS));
}

/** The second after a period's last one. */
export function secondAfter({ ended_at }: Pick<PeriodTimes, 'ended_at'>): Date {
  return new Date(ended_at.getTime() + SECOND_MS);
}
