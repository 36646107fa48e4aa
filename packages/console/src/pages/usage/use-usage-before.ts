import { useQuery } from '@tanstack/react-query';
import { usageQuery } from '../../api/usage.ts';
import type { Usage, UsageFigures } from '../../api/usage.ts';
import { rangeBefore, rangeLength } from '../../ui/usage/bucket-time.ts';
import type { Period } from './range.ts';

type Asked = {
  usage: Usage;
  periods: readonly Period[] | undefined;
  application: number | undefined;
  /** The first day of which usage is kept. */
  earliest: string;
  isEnabled: boolean;
};

type Before = {
  /** Null while it loads, and where there is none. */
  usage: Usage | null;
  /** Such as "the 30 days before". */
  name: string;
  state: 'loading' | 'shown' | 'not kept' | 'none';
};

/** What a view is compared with: the billing period before, up to the same day or hour, or a range of equal length. */
export function useUsageBefore({ usage, periods, application, earliest, isEnabled }: Asked): Before {
  const { billing_period, interval, from } = usage;
  const former =
    billing_period === null
      ? undefined
      : periods?.find(({ ended_at }) => ended_at < billing_period.started_at);
  const range = billing_period === null ? rangeBefore(usage) : null;
  const start = (range?.from ?? former?.started_at ?? '').slice(0, 10);
  const isThere = range !== null || former !== undefined;
  const isKept = start >= earliest;
  const { data, isError } = useQuery({
    ...usageQuery({
      interval,
      group_by: 'none',
      ...(range ?? (former === undefined ? {} : { period_id: former.period_id })),
      ...(application === undefined ? {} : { application_id: application }),
    }),
    enabled: isThere && isKept && isEnabled,
  });
  const isOfThisView =
    data?.interval === interval &&
    (range === null ? data.billing_period?.period_id === former?.period_id : data.to === from);
  const before = isOfThisView ? firstBuckets(data, usage.buckets.length) : null;
  const isWhole = before !== null && before.buckets.length === data?.buckets.length;
  const name = range === null ? periodName(interval, isWhole) : `the ${rangeLength(usage)} before`;
  if (!isThere || isError) return { usage: null, name, state: 'none' };
  if (!isKept) return { usage: null, name, state: 'not kept' };
  return { usage: before, name, state: before === null ? 'loading' : 'shown' };
}

function periodName(interval: Usage['interval'], isWhole: boolean): string {
  return isWhole ? 'the period before' : `the same ${interval}s of the period before`;
}

/** A period that is running is compared with as much of the one before, not with all of it. */
function firstBuckets(usage: Usage, count: number): Usage {
  if (usage.group_by !== 'none' || usage.buckets.length <= count) return usage;
  const buckets = usage.buckets.slice(0, count);
  const sum = (field: keyof UsageFigures) =>
    buckets.reduce((total, bucket) => total + bucket.usage[field], 0);
  return {
    ...usage,
    buckets,
    usage: {
      points_usage: sum('points_usage'),
      requests_usage: sum('requests_usage'),
      time_sec_usage: sum('time_sec_usage'),
      traffic_bytes_usage: sum('traffic_bytes_usage'),
    },
  };
}
