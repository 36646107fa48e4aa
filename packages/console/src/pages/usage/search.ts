import type { Measure } from '../../ui/usage/measures.ts';

/** The state of the view in its address. What is missing or wrong there has its default. */

export const RANGES = ['30d', '7d', '90d', '12m', 'period', 'previous'] as const;

export type RangeName = (typeof RANGES)[number];

const INTERVALS = ['day', 'hour'] as const;
const GROUPS = ['none', 'application', 'member', 'api_version'] as const;
const MEASURES = ['points', 'requests', 'time', 'traffic'] as const satisfies readonly Measure[];

export type Group = (typeof GROUPS)[number];

export type UsageSearch = {
  range?: Exclude<RangeName, '30d'>;
  /** Days of UTC, both inclusive; only together, and instead of `range`. */
  from?: string;
  to?: string;
  /** The id of a billing period, instead of `range` and days. */
  period?: number;
  by?: 'hour';
  group?: Exclude<Group, 'none'>;
  /** Only usage of this one. */
  application?: number;
  measure?: Exclude<Measure, 'points'>;
};

/** Leaves out what is wrong or the default, so that each view has one address. */
export function usageSearch(search: Readonly<Record<string, unknown>>): UsageSearch {
  const { from, to, application, period } = search;
  const hasDays = isDay(from) && isDay(to) && from <= to;
  return {
    ...(hasDays ? { from, to } : isId(period) ? { period } : given('range', search['range'], RANGES)),
    ...given('by', search['by'], INTERVALS),
    ...given('group', search['group'], GROUPS),
    ...given('measure', search['measure'], MEASURES),
    ...(isId(application) ? { application } : {}),
  };
}

/** One of the values, unless it is the first one: the default. */
function given(key: string, value: unknown, values: readonly unknown[]): object {
  return values.indexOf(value) > 0 ? { [key]: value } : {};
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const instant = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(value);
}
