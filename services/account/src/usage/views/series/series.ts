import { sumUsage } from '../../../billing/periods/usage-sums.ts';
import type { ReportedUsage } from '../../../billing/periods/usage-sums.ts';
import { isoSeconds } from '../../../http/iso-seconds.ts';
import type { GroupBy } from '../input.ts';
import type { Names } from '../names.ts';
import { bucketStarts } from './range.ts';
import type { UsageRange } from './range.ts';
import type { UsageRow, UsageView } from '../store.ts';

type UsageGroup = { id: number | string; usage: ReportedUsage };

type UsageBucket = { started_at: string; usage: ReportedUsage; groups: UsageGroup[] };

export type UsageSeries = {
  account_id: number;
  payer_id: number;
  view: UsageView;
  group_by: GroupBy;
  range: UsageRange;
  /** Null if the range isn't that of one period. */
  billing_period: { period_id: number; started_at: string; ended_at: string } | null;
  usage: ReportedUsage;
  /** Most points first; empty without grouping. */
  groups: (UsageGroup & { names: Names })[];
  /** Every bucket of the range, each with the groups that have usage in it. */
  buckets: UsageBucket[];
};

export const ID_FIELDS: Record<Exclude<GroupBy, 'none'>, string> = {
  application: 'application_id',
  member: 'account_id',
  api_version: 'api_version',
};

type GroupedRow = UsageRow & { group_id: number | string };

const isGrouped = (row: UsageRow): row is GroupedRow => row.group_id !== null;

export function groupIds(rows: readonly UsageRow[]): (number | string)[] {
  return [...new Set(rows.filter(isGrouped).map(({ group_id }) => group_id))];
}

export function usageSeries(
  head: Pick<UsageSeries, 'account_id' | 'payer_id' | 'view' | 'group_by' | 'range' | 'billing_period'>,
  rows: readonly UsageRow[],
  namesOf: (id: number | string) => Names,
): UsageSeries {
  const byGroup = Map.groupBy(rows.filter(isGrouped), ({ group_id }) => group_id);
  const byBucket = Map.groupBy(rows, ({ bucket }) => bucket.getTime());
  const groups = [...byGroup].map(([id, own]) => ({ id, names: namesOf(id), usage: sumUsage(own) }));
  const buckets = bucketStarts(head.range).map((start) => {
    const own = byBucket.get(start.getTime()) ?? [];
    return {
      started_at: isoSeconds(start),
      usage: sumUsage(own),
      groups: own.filter(isGrouped).map((row) => ({ id: row.group_id, usage: sumUsage([row]) })),
    };
  });
  return { ...head, usage: sumUsage(rows), groups: groups.toSorted(mostFirst), buckets };
}

export function usageSeriesAnswer({ range, groups, buckets, ...head }: UsageSeries) {
  const idField = head.group_by === 'none' ? undefined : ID_FIELDS[head.group_by];
  const idOf = (id: number | string) => (idField === undefined ? {} : { [idField]: id });
  return {
    ...head,
    interval: range.interval,
    from: isoSeconds(range.from),
    to: isoSeconds(range.to),
    groups: groups.map(({ id, names, usage }) => ({ ...idOf(id), ...names, usage })),
    buckets: buckets.map((bucket) => ({
      ...bucket,
      groups: bucket.groups.map(({ id, usage }) => ({ ...idOf(id), usage })),
    })),
  };
}

function mostFirst({ usage: one }: UsageGroup, { usage: other }: UsageGroup): number {
  return other.points_usage - one.points_usage || other.requests_usage - one.requests_usage;
}
