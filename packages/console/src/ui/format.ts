import { serverNowMs } from '../api/server-clock.ts';
import { LOCALE, formatLocal, utcFormat, zoneOf, zonedFormat } from './locale.ts';
import type { TimeFormat } from './locale.ts';

const NUMBER = new Intl.NumberFormat(LOCALE);
const DAY = utcFormat({ dateStyle: 'long' });
const SHORT_DAY = utcFormat({ dateStyle: 'medium' });
const MOMENT = zonedFormat({ dateStyle: 'medium', timeStyle: 'short' });
const INSTANT = zonedFormat({ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
const EXACT = zonedFormat({ dateStyle: 'medium', timeStyle: 'medium' });
const TIME = zonedFormat({ timeStyle: 'short' });
const EXACT_UTC = utcFormat({ dateStyle: 'medium', timeStyle: 'medium' });

/** Not "yesterday": where a day begins depends on the zone. */
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'always' });

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A time that says its zone. */
const withZone = (format: TimeFormat, at: Date) => `${format.format(at)} ${zoneOf(at)}`;

/** A number with the locale's grouping. */
export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

/** A count with its noun, as "1 day" or "1,200 points". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** A share such as 0.128 as "12%", rounded down so that 100% means all of it. */
export function formatShare(share: number): string {
  return `${NUMBER.format(Math.floor(share * 100))}%`;
}

/** The time of day, as "16:59 UTC". */
export function formatTime(ms: number): string {
  return withZone(TIME, new Date(ms));
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** Bytes in the unit that fits: 1,234,567 as "1.2 MB". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), BYTE_UNITS.length - 1);
  const unit = BYTE_UNITS[power] ?? 'byte';
  return new Intl.NumberFormat(LOCALE, {
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
    new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
  if (seconds < 60) return inUnit(Math.floor(seconds), 'second');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return inUnit(minutes, 'minute');
  const rest = minutes % 60;
  const hours = inUnit(Math.floor(minutes / 60), 'hour');
  return rest === 0 ? hours : `${hours} ${inUnit(rest, 'minute')}`;
}

/** A day as "November 30, 2026 UTC". */
export function formatDay(iso: string): string {
  return `${DAY.format(new Date(iso))} UTC`;
}

/** A day where there is little room, as "Nov 30, 2026 UTC". */
export function formatShortDay(iso: string): string {
  return `${SHORT_DAY.format(new Date(iso))} UTC`;
}

/** Days of UTC, both inclusive, as short as they can be: "Nov 1 – 30, 2026". The text around them says UTC. */
export function formatDays(first: string, last: string): string {
  return SHORT_DAY.formatRange(new Date(first), new Date(last));
}

/** From the first instant to the last second, as "Oct 26, 16:59 to Nov 26, 16:59 UTC"; with years if they differ. */
export function formatInstants(first: string, last: string): string {
  // The end is the start of the next second, as the next period's is.
  const [start, end] = [new Date(first), new Date(Date.parse(last) + SECOND_MS)];
  const isOfThisYear = [start, end].every(
    (at) => at.getUTCFullYear() === new Date(serverNowMs()).getUTCFullYear(),
  );
  const format = isOfThisYear ? INSTANT : MOMENT;
  const from = zoneOf(start) === zoneOf(end) ? '' : ` ${zoneOf(start)}`;
  return `${format.format(start)}${from} to ${withZone(format, end)}`;
}

/** From a time to another, as short as it can be: "Nov 27, 17:00 – 17:01 UTC". */
export function formatTimes(first: string, last: string): string {
  const end = new Date(last);
  return `${INSTANT.formatRange(new Date(first), end)} ${zoneOf(end)}`;
}

/** A time as "Nov 30, 2026, 16:59:07 UTC". */
export function formatExact(iso: string): string {
  return withZone(EXACT, new Date(iso));
}

/** What a time says on hover, in either zone: exactly in UTC, and where the reader is. */
export function momentTitle(iso: string): string {
  const at = new Date(iso);
  return `${EXACT_UTC.format(at)} UTC (${formatLocal(at)})`;
}

/** Whole days from now until then, at least 0. */
export function daysUntil(iso: string, nowMs = serverNowMs()): number {
  return Math.max(Math.ceil((new Date(iso).getTime() - nowMs) / DAY_MS), 0);
}

/** Relative within a week and rounded ("3 hours ago"), else date and time. */
export function formatMoment(iso: string, nowMs = serverNowMs()): string {
  const distanceMs = new Date(iso).getTime() - nowMs;
  const magnitudeMs = Math.abs(distanceMs);
  if (magnitudeMs < MINUTE_MS) return distanceMs > 0 ? 'in less than a minute' : 'just now';
  const within = (unitMs: number, unit: 'minute' | 'hour' | 'day') =>
    RELATIVE.format(Math.round(distanceMs / unitMs), unit);
  if (magnitudeMs < HOUR_MS) return within(MINUTE_MS, 'minute');
  if (magnitudeMs < DAY_MS) return within(HOUR_MS, 'hour');
  if (magnitudeMs <= 7 * DAY_MS) return within(DAY_MS, 'day');
  return withZone(MOMENT, new Date(iso));
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
      : [new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' }).format(count)];
  });
  return parts.join(', ');
}
