import type { Usage } from '../../api/usage.ts';
import { stacksOf } from './groups.ts';
import { MEASURES, MEASURE_TEXT } from './measures.ts';
import type { Measure } from './measures.ts';
import { TimeTable } from './time-table.tsx';
import type { TimeColumn } from './time-table.tsx';

type UsageTableProps = {
  usage: Usage;
  measure: Measure;
  before?: { usage: Usage; name: string } | null;
};

/** The figures of a UsageChart. Without grouping it has all measures, as the CSV does. */
export function UsageTable({ usage, measure, before = null }: UsageTableProps) {
  const starts = usage.buckets.map(({ started_at }) => started_at);
  return (
    <TimeTable interval={usage.interval} starts={starts} columns={columnsOf({ usage, measure, before })} />
  );
}

function columnsOf({ usage, measure, before = null }: UsageTableProps): TimeColumn[] {
  const { name } = MEASURE_TEXT[measure];
  const compared =
    before === null
      ? []
      : [{ ...columnOf(before.usage, measure), name: `${name}, ${before.name.toLowerCase()}` }];
  if (usage.group_by === 'none') {
    return [...MEASURES.map((each) => columnOf(usage, each)), ...compared];
  }
  const stacks = stacksOf(usage, MEASURE_TEXT[measure].field, name).map((stack) => ({
    ...stack,
    measure,
    total: stack.values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
  }));
  return [{ ...columnOf(usage, measure), name: `All ${name.toLowerCase()}` }, ...compared, ...stacks];
}

function columnOf({ buckets, usage }: Usage, measure: Measure): TimeColumn {
  const { name, field } = MEASURE_TEXT[measure];
  return { name, measure, values: buckets.map((bucket) => bucket.usage[field]), total: usage[field] };
}
