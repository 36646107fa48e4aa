import { daysUntil, formatNumber } from '../../ui/format.ts';
import type { Interval, Plan, Subscription } from './queries.ts';

export type Period = NonNullable<Subscription['billing_period']>;

const BYTES_PER_GB = 1_000_000_000;
const SEC_PER_HOUR = 3_600;

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

export function points(limit: number | null | undefined): string {
  return typeof limit === 'number' ? counted(limit, 'point') : 'unlimited points';
}

/** What is lost of a period that ends early, such as "950 points and 12 days". */
export function remains(period: Period, isTimeLost: boolean): string {
  const limit = period.limits.points_limit;
  const left = typeof limit === 'number' ? Math.max(limit - period.usage.points_usage, 0) : null;
  const lost = left === null ? 'its unlimited points' : counted(left, 'point');
  return isTimeLost ? `${lost} and ${counted(daysUntil(period.ended_at), 'day')}` : lost;
}

export const PER_INTERVAL: Record<Interval, string> = { month: 'every month', year: 'every year' };

/** The limits of a plan in the order of the interface, each as label and value. */
export function limitRows({ limits }: Pick<Plan, 'limits'>): [string, string][] {
  const number = (limit: number | null | undefined, text = formatNumber) =>
    typeof limit === 'number' ? text(limit) : 'Unlimited';
  return [
    ['Points per billing period', number(limits.points_limit)],
    ['Calls per minute', number(limits.rate_limit)],
    ['Calls at once', number(limits.session_limit)],
    ['Open subscriptions', number(limits.subscription_limit)],
    ['Streaming hours', number(limits.time_sec_limit, (sec) => formatNumber(sec / SEC_PER_HOUR))],
    ['Traffic in GB', number(limits.traffic_bytes_limit, (bytes) => formatNumber(bytes / BYTES_PER_GB))],
    ['Team members included', number(limits.team_slots_limit)],
  ];
}
