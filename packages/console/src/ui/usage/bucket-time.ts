import type { Usage } from '../../api/usage.ts';
import { formatDays } from '../format.ts';
import { formatLocal, utcFormat } from '../locale.ts';

type Interval = Usage['interval'];

const DAY = utcFormat({ dateStyle: 'medium' });
const SHORT_DAY = utcFormat({ day: 'numeric', month: 'short' });
const HOUR = utcFormat({ timeStyle: 'short' });

/** A day or hour of UTC in full; the text around it must say that it is UTC. */
export function bucketName(startedAt: string, interval: Interval): string {
  const start = new Date(startedAt);
  return interval === 'day' ? DAY.format(start) : `${DAY.format(start)}, ${HOUR.format(start)}`;
}

/** As short as an axis needs it: the day, or the hour within it. */
export function bucketTick(startedAt: string, interval: Interval): string {
  const start = new Date(startedAt);
  const isDay = interval === 'day' || start.getUTCHours() === 0;
  return isDay ? SHORT_DAY.format(start) : HOUR.format(start);
}

/** When it begins where the reader is. */
export function bucketLocalStart(startedAt: string): string {
  return `Begins ${formatLocal(new Date(startedAt))}`;
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
