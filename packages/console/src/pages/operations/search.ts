export const RANGES = {
  '7d': { label: 'Last 7 days', days: 7 },
  '30d': { label: 'Last 30 days', days: 30 },
  '90d': { label: 'Last 90 days', days: 90 },
} as const;

export type Range = keyof typeof RANGES;

export type OperationsSearch = { range?: Range };

export const DEFAULT_RANGE: Range = '30d';

/** An address may have been typed: what isn't valid doesn't count. */
export function operationsSearch({ range }: { range?: unknown }): OperationsSearch {
  return typeof range === 'string' && Object.hasOwn(RANGES, range) ? { range: range as Range } : {};
}
