import type { Interval } from '../objects/catalogue.ts';

/** One interval after `seconds`, on the anchor's day or the month's last one (Stripe's rule). */
export function addInterval(seconds: number, interval: Interval, anchorSeconds: number): number {
  if (interval === 'day') return seconds + 86_400;
  if (interval === 'week') return seconds + 7 * 86_400;
  const anchor = new Date(anchorSeconds * 1_000);
  const next = new Date(seconds * 1_000);
  next.setUTCDate(1);
  next.setUTCMonth(next.getUTCMonth() + (interval === 'month' ? 1 : 12));
  const last = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0)).getUTCDate();
  next.setUTCDate(Math.min(anchor.getUTCDate(), last));
  return Math.floor(next.getTime() / 1_000);
}
