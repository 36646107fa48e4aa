import type { Usage } from '../../api/usage.ts';
import type { ChartModel } from '../chart/model.ts';
import { formatDays } from '../format.ts';
import { currentZone, formatLocal, utcFormat, zoneName, zonedFormat } from '../locale.ts';

type Interval = Usage['interval'];

const DAY = utcFormat({ dateStyle: 'medium' });
const SHORT_DAY = utcFormat({ day: 'numeric', month: 'short' });
const HOUR = utcFormat({ timeStyle: 'short' });
const ZONED_DAY = zonedFormat({ day: 'numeric', month: 'short' });
const ZONED_HOUR = zonedFormat({ timeStyle: 'short' });
const ZONED_START = zonedFormat({ dateStyle: 'medium', timeStyle: 'short' });

/** Days are days of UTC; hours are shown in the chosen zone. */
export function bucketZone(interval: Interval): string {
  return interval === 'day' ? 'UTC' : zoneName();
}

/** A day or hour in full; the text around it must say its zone. */
export function bucketName(startedAt: string, interval: Interval): string {
  const start = new Date(startedAt);
  return interval === 'day' ? DAY.format(start) : ZONED_START.format(start);
}

/** A point of time in a chart. */
export function bucketPoint(startedAt: string, interval: Interval): ChartModel['points'][number] {
  return {
    name: `${bucketName(startedAt, interval)} (${bucketZone(interval)})`,
    tick: bucketTick(startedAt, interval),
    isMajor: isMajorBucket(startedAt, interval),
  };
}

/** Heads the column of days or hours in a table: "Day (UTC)". */
export function bucketHeading(interval: Interval): string {
  return `${interval === 'day' ? 'Day' : 'Hour'} (${bucketZone(interval)})`;
}

/** As short as an axis needs it: the day, or the hour within it. */
function bucketTick(startedAt: string, interval: Interval): string {
  const start = new Date(startedAt);
  if (interval === 'day') return SHORT_DAY.format(start);
  return isMajorBucket(startedAt, interval) ? ZONED_DAY.format(start) : ZONED_HOUR.format(start);
}

/** Days, and the first hour of each. */
function isMajorBucket(startedAt: string, interval: Interval): boolean {
  const start = new Date(startedAt);
  return interval === 'day' || (currentZone() === 'utc' ? start.getUTCHours() : start.getHours()) === 0;
}

/** When it begins, in the zone that it isn't shown in. */
export function bucketTitle(startedAt: string, interval: Interval): string {
  const start = new Date(startedAt);
  return bucketZone(interval) === 'UTC'
    ? `Begins ${formatLocal(start)}`
    : `Begins ${DAY.format(start)}, ${HOUR.format(start)} UTC`;
}

/** A range such as "Oct 1 – 30, 2026"; `to` is exclusive. The text around it must say that it is UTC. */
export function rangeName({ from, to, interval }: Pick<Usage, 'from' | 'to' | 'interval'>): string {
  const last = new Date(new Date(to).getTime() - 1).toISOString();
  const days = formatDays(from, last);
  const isWhole = to.endsWith('T00:00:00Z');
  return interval === 'hour' && !isWhole ? `${days}, ${HOUR.format(new Date(to))}` : days;
}

const HOUR_MS = 3_600_000;

/** How long a range is, after "the": "30 days", "day", "7 hours"; "range" where no count says more. */
export function rangeLength({ from, to }: Pick<Usage, 'from' | 'to'>): string {
  const hours = (new Date(to).getTime() - new Date(from).getTime()) / HOUR_MS;
  const [count, unit] = hours % 24 === 0 ? ([hours / 24, 'day'] as const) : ([hours, 'hour'] as const);
  if (unit === 'hour' && count > 48) return 'range';
  return count === 1 ? unit : `${String(count)} ${unit}s`;
}

/** The range of equal length that ends where this one begins. */
export function rangeBefore({ from, to }: Pick<Usage, 'from' | 'to'>): { from: string; to: string } {
  const start = new Date(from).getTime();
  const length = new Date(to).getTime() - start;
  return { from: new Date(start - length).toISOString(), to: from };
}
