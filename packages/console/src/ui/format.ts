import { serverNowMs } from '../api/server-clock.ts';

const NUMBER = new Intl.NumberFormat();
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

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

/** The time of day, by the browser's clock. */
export function formatTime(ms: number): string {
  return TIME.format(ms);
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** Bytes in the unit that fits: 1,234,567 as "1.2 MB". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), BYTE_UNITS.length - 1);
  const unit = BYTE_UNITS[power] ?? 'byte';
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
    // As with shares: what is left or used is never overstated.
    roundingMode: 'floor',
  }).format(bytes / 1_000 ** power);
}

/** Seconds as "45 s", "12 min" or "3 h 20 min", rounded down. */
export function formatDuration(seconds: number): string {
  const inUnit = (value: number, unit: 'second' | 'minute' | 'hour') =>
    new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
  if (seconds < 60) return inUnit(Math.floor(seconds), 'second');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return inUnit(minutes, 'minute');
  const rest = minutes % 60;
  const hours = inUnit(Math.floor(minutes / 60), 'hour');
  return rest === 0 ? hours : `${hours} ${inUnit(rest, 'minute')}`;
}

export function formatDay(iso: string): string {
  return DAY.format(new Date(iso));
}

/** Whole days from now until then, at least 0. */
export function daysUntil(iso: string, nowMs = serverNowMs()): number {
  return Math.max(Math.ceil((new Date(iso).getTime() - nowMs) / DAY_MS), 0);
}

/** Relative within a week ("3 hours ago"), else the date and time. */
export function formatMoment(iso: string, nowMs = serverNowMs()): string {
  const distanceMs = new Date(iso).getTime() - nowMs;
  const magnitudeMs = Math.abs(distanceMs);
  if (magnitudeMs < MINUTE_MS) return 'just now';
  if (magnitudeMs < HOUR_MS) return RELATIVE.format(Math.trunc(distanceMs / MINUTE_MS), 'minute');
  if (magnitudeMs < DAY_MS) return RELATIVE.format(Math.trunc(distanceMs / HOUR_MS), 'hour');
  if (magnitudeMs < 7 * DAY_MS) return RELATIVE.format(Math.trunc(distanceMs / DAY_MS), 'day');
  return MOMENT.format(new Date(iso));
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Seconds in at most two units: "6 days, 23 hours". */
export function formatTimeLeft(seconds: number): string {
  const largest = UNITS.findIndex(([, unitSec]) => seconds >= unitSec);
  const shown = UNITS.slice(largest === -1 ? -1 : largest).slice(0, 2);
  let left = seconds;
  const parts = shown.flatMap(([unit, unitSec], index) => {
    const count = Math.floor(left / unitSec);
    left -= count * unitSec;
    return count === 0 && index > 0
      ? []
      : [new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(count)];
  });
  return parts.join(', ');
}
