import type { Usage } from '../../api/usage.ts';
import { Chart } from '../chart/chart.tsx';
import type { ChartModel } from '../chart/model.ts';
import { bucketPoint, bucketZone } from './bucket-time.ts';
import { stacksOf } from './groups.ts';
import { MEASURE_TEXT, axisOf } from './measures.ts';
import type { Measure } from './measures.ts';
import { formatQuantity } from './quantity.tsx';

const HEIGHT_PX = 240;

type UsageChartProps = {
  usage: Usage;
  measure: Measure;
  /** A range of equal length, drawn as a faint line; its usage is null while it loads. */
  before?: { usage: Usage | null; name: string } | null;
};

/** Usage over time as stacked bars. Put a UsageTable of the same usage beside it. */
export function UsageChart({ usage, measure, before = null }: UsageChartProps) {
  const { name, field, kind } = MEASURE_TEXT[measure];
  const stacks = stacksOf(usage, field, name);
  const length = usage.buckets.length;
  const lines =
    before === null
      ? []
      : [
          {
            name: before.name,
            style: 'faint' as const,
            values: before.usage === null ? [] : figuresOf(before.usage, field).slice(0, length),
          },
        ];
  const highest = Math.max(...figuresOf(usage, field), ...lines.flatMap(({ values }) => values), 0);
  const by = usage.interval === 'day' ? 'day' : 'hour';
  const model: ChartModel = {
    label: `${name} per ${by}`,
    points: usage.buckets.map(({ started_at }) => bucketPoint(started_at, usage.interval)),
    panels: [
      {
        heightPx: HEIGHT_PX,
        stacks,
        lines,
        limit: null,
        format: (value) => formatQuantity(value, kind),
        axis: axisOf(measure, highest),
      },
    ],
  };
  return <Chart model={model} caption={`${name} per ${by} (${bucketZone(usage.interval)})`} />;
}

function figuresOf({ buckets }: Usage, field: keyof Usage['usage']): number[] {
  return buckets.map(({ usage }) => usage[field]);
}
