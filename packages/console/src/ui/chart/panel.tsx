import { scaleLinear } from '@visx/scale';
import type { scaleBand } from '@visx/scale';
import { BarStack, LinePath } from '@visx/shape';
import { StackRect, lineClass } from './marks.tsx';
import type { ChartPanel } from './model.ts';
import styles from './chart.module.css';

const TICKS = 4;
/** Room for the uppermost figure of the axis, and for the limit's name above its line. */
const HEAD_PX = 20;
const LABEL_PX = -5;
const MAX_BAR_PX = 56;

type PanelProps = {
  panel: ChartPanel;
  chartId: string;
  xScale: ReturnType<typeof scaleBand<number>>;
  width: number;
  gutterPx: number;
};

/** One plot with its axis: a faint comparison, stacked bars over it, lines, and the limit with its name. */
export function Panel({ panel, chartId, xScale, width, gutterPx }: PanelProps) {
  const { heightPx, lines, limit, axis } = panel;
  const yScale = scaleLinear<number>({
    domain: [0, Math.max(highest(panel) / axis.unit, 1)],
    range: [heightPx, HEAD_PX],
    nice: TICKS,
  });
  const yOf = (value: number) => yScale(value / axis.unit);
  const center = (index: number) => (xScale(index) ?? 0) + xScale.bandwidth() / 2;
  const indices = xScale.domain();
  return (
    <>
      {yScale
        .ticks(TICKS)
        .filter((tick) => axis.unit !== 1 || Number.isInteger(tick))
        .map((tick) => (
          <g key={tick} transform={`translate(0 ${String(Math.round(yScale(tick)) - 0.5)})`}>
            <path d={`M${String(gutterPx)} 0H${String(width)}`} className={styles['grid']} />
            <text x={gutterPx - 8} dy="0.32em" textAnchor="end" className={styles['tick']}>
              {axis.format(tick)}
            </text>
          </g>
        ))}
      {lines
        .filter(({ style }) => style === 'faint')
        .map(({ name, style, values }) => (
          <path key={name} d={stepPath(values, xScale, yOf)} className={lineClass(style)} />
        ))}
      <Bars panel={panel} chartId={chartId} xScale={xScale} yScale={yScale} />
      {lines
        .filter(({ style }) => style !== 'faint')
        .map(({ name, style, values }) => (
          <LinePath
            key={name}
            data={indices}
            x={center}
            y={(index) => yOf(values[index] ?? 0)}
            defined={(index) => (values[index] ?? null) !== null}
          >
            {({ path }) => <path d={path(indices) ?? ''} className={lineClass(style)} />}
          </LinePath>
        ))}
      {limit !== null && (
        <g transform={`translate(0 ${String(yOf(limit.value))})`}>
          <path d={`M${String(gutterPx)} 0H${String(width)}`} className={styles['limit']} />
          <text x={width} y={LABEL_PX} textAnchor="end" className={styles['limitName']}>
            {limit.name}
          </text>
        </g>
      )}
    </>
  );
}

/** As wide as the bars' steps, since a figure is that of a whole day or hour. */
function stepPath(
  values: readonly (number | null)[],
  xScale: PanelProps['xScale'],
  yOf: (value: number) => number,
): string {
  const step = xScale.step();
  const first = (xScale(0) ?? 0) - (step - xScale.bandwidth()) / 2;
  return values
    .flatMap((value, index) =>
      value === null
        ? []
        : [`${index === 0 ? 'M' : 'L'}${String(first + index * step)} ${String(yOf(value))}h${String(step)}`],
    )
    .join('');
}

type BarsProps = Pick<PanelProps, 'panel' | 'chartId' | 'xScale'> & {
  yScale: ReturnType<typeof scaleLinear<number>>;
};

function Bars({ panel: { stacks, axis }, chartId, xScale, yScale }: BarsProps) {
  return (
    <BarStack
      data={xScale.domain()}
      keys={stacks.map((_, stack) => stack)}
      value={(index, stack) => stacks[stack]?.values[index] ?? 0}
      x={(index) => index}
      y0={([low]) => low / axis.unit}
      y1={([, high]) => high / axis.unit}
      xScale={xScale}
      yScale={yScale}
      color={() => ''}
    >
      {(drawn) =>
        drawn.flatMap(({ bars, key: stack }) =>
          bars
            .filter(({ height }) => height > 0)
            .map(({ x, y, width: barWidth, height, index }) => (
              <StackRect
                key={`${String(stack)}-${String(index)}`}
                chartId={chartId}
                stack={stack}
                x={x + Math.max(barWidth - MAX_BAR_PX, 0) / 2}
                y={y}
                width={Math.min(barWidth, MAX_BAR_PX)}
                height={height}
              />
            )),
        )
      }
    </BarStack>
  );
}

function highest({ stacks, lines, limit }: ChartPanel): number {
  const length = Math.max(...[...stacks, ...lines].map(({ values }) => values.length), 0);
  const sums = Array.from({ length }, (_, index) =>
    stacks.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const points = lines.flatMap(({ values }) => values.map((value) => value ?? 0));
  return Math.max(...sums, ...points, limit?.value ?? 0);
}
