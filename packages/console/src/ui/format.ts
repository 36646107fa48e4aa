const NUMBER = new Intl.NumberFormat();
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A number with the locale's grouping. */
export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

/** A share such as 0.128 as "12%", rounded down so that 100% means all of it. */
export function formatShare(share: number): string {
  return `${NUMBER.format(Math.floor(share * 100))}%`;
}

export function formatDay(iso: string): string {
  return DAY.format(new Date(iso));
}

/** Whole days from now until then, at least 0. */
export function daysUntil(iso: string, nowMs = Date.now()): number {
  return Math.max(Math.ceil((new Date(iso).getTime() - nowMs) / DAY_MS), 0);
}

/** Relative within a week ("3 hours ago"), else the date and time. */
export function formatMoment(iso: string, nowMs = Date.now()): string {
  const distanceMs = new Date(iso).getTime() - nowMs;
  const magnitudeMs = Math.abs(distanceMs);
  if (magnitudeMs < MINUTE_MS) return 'just now';
  if (magnitudeMs < HOUR_MS) return RELATIVE.format(Math.trunc(distanceMs / MINUTE_MS), 'minute');
  if (magnitudeMs < DAY_MS) return RELATIVE.format(Math.trunc(distanceMs / HOUR_MS), 'hour');
  if (magnitudeMs < 7 * DAY_MS) return RELATIVE.format(Math.trunc(distanceMs / DAY_MS), 'day');
  return MOMENT.format(new Date(iso));
}
