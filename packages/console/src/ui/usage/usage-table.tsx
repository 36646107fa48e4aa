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

/** The figures of a UsageChart, exactly. Without grouping it has all measures, as the CSV does. */
export function UsageTable({ usage, measure, before = null }: UsageTableProps) {
  const starts = usage.buckets.map(({ started_at }) => started_at);
  return (
    <TimeTable interval={usage.interval} starts={starts} columns={columnsOf({ usage, measure, before })} />
  );
}

function columnsOf({ usage, measure, before = null }: UsageTableProps): TimeColumn[] {
  const { field, column } = MEASURE_TEXT[measure];
  const compared =
    before === null
      ? []
      : [{ ...columnOf(before.usage, field), name: `${column}, ${before.name.toLowerCase()}` }];
  if (usage.group_by === 'none') {
    const all = MEASURES.map((each) => ({
      ...columnOf(usage, MEASURE_TEXT[each].field),
      name: MEASURE_TEXT[each].column,
    }));
    return [...all, ...compared];
  }
  const stacks = stacksOf(usage, field, column).map(({ name, values }) => ({
    name,
    values,
    total: values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
  }));
  return [{ ...columnOf(usage, field), name: `All ${column.toLowerCase()}` }, ...compared, ...stacks];
}

function columnOf({ buckets, usage }: Usage, field: keyof Usage['usage']) {
  return { values: buckets.map((bucket) => bucket.usage[field]), total: usage[field] };
}
