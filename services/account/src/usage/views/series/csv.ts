import { USAGE_FIELDS } from '@tollgate/contracts/usage-response';
import type { ReportedUsage } from '../../../billing/periods/usage-sums.ts';
import { csvLine } from '../../../http/csv.ts';
import type { CsvCell } from '../../../http/csv.ts';
import type { GroupBy } from '../input.ts';
import { ID_FIELDS } from './series.ts';
import type { UsageSeries } from './series.ts';

/** Names of groups, with their column titles. */
const NAME_COLUMNS: Record<GroupBy, Readonly<Record<string, string>>> = {
  none: {},
  application: { name: 'application_name' },
  member: { name: 'member_name', email: 'member_email' },
  api_version: {},
};

/**
 * CSV (RFC 4180): one line for each bucket or, if grouped, for each group in a bucket: `started_at`, the group's id
 * and names, and the usage fields.
 */
export function usageCsv({ group_by, groups, buckets }: UsageSeries): string {
  const columns = NAME_COLUMNS[group_by];
  const idColumns = group_by === 'none' ? [] : [ID_FIELDS[group_by]];
  const namesOf = new Map(groups.map(({ id, names }) => [id, nameCells(names, Object.keys(columns))]));
  const lines: CsvCell[][] = [['started_at', ...idColumns, ...Object.values(columns), ...USAGE_FIELDS]];
  for (const { started_at, usage, groups: used } of buckets) {
    if (group_by === 'none') lines.push([started_at, ...figures(usage)]);
    for (const group of used) {
      lines.push([started_at, group.id, ...(namesOf.get(group.id) ?? []), ...figures(group.usage)]);
    }
  }
  return lines.map(csvLine).join('');
}

/** Such as `usage-2026-11-01-to-2026-11-30-by-day.csv`. */
export function csvFileName({ range, group_by, buckets }: UsageSeries): string {
  // Not every file system allows a colon in names.
  const length = range.interval === 'day' ? '2026-11-01'.length : '2026-11-01T13'.length;
  const [first, last] = [buckets[0], buckets.at(-1)].map((bucket) => bucket?.started_at.slice(0, length));
  const by = group_by === 'none' ? range.interval : `${range.interval}-and-${group_by.replace('_', '-')}`;
  return `usage-${String(first)}-to-${String(last)}-by-${by}.csv`;
}

const figures = (usage: ReportedUsage): number[] => USAGE_FIELDS.map((field) => usage[field]);

function nameCells(names: Readonly<Record<string, unknown>>, fields: readonly string[]): string[] {
  return fields.map((field) => {
    const name = names[field];
    return typeof name === 'string' ? name : '';
  });
}
