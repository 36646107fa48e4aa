import { scaleLinear } from '@visx/scale';
import type { scaleBand } from '@visx/scale';
import { BarStack, LinePath } from '@visx/shape';
import { axisTop, stackSums } from './axis-top.ts';
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
    domain: [0, Math.max(axisTop(panel).top / axis.unit, 1)],
    range: [heightPx, HEAD_PX],
    nice: TICKS,
    clamp: true,
  });
  const [, axisEnd = 0] = yScale.domain();
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
      <Cuts panel={panel} center={center} barPx={barWidth(xScale)} axisEnd={axisEnd} />
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
            .map(({ x, y, width: bandPx, height, index }) => (
              <StackRect
                key={`${String(stack)}-${String(index)}`}
                chartId={chartId}
                stack={stack}
                x={x + (bandPx - barWidth(xScale)) / 2}
                y={y}
                width={barWidth(xScale)}
                height={height}
              />
            )),
        )
      }
    </BarStack>
  );
}

const barWidth = (xScale: PanelProps['xScale']) => Math.min(xScale.bandwidth(), MAX_BAR_PX);

const CUT_BELOW_PX = 10;
const FIGURE_PX = 48;

type CutsProps = {
  panel: ChartPanel;
  center: (index: number) => number;
  barPx: number;
  /** The highest figure that the axis reaches, in its unit. */
  axisEnd: number;
};

/** Bars that are higher than the axis: a gap across each, and above it its figure, as far as there is room. */
function Cuts({ panel, center, barPx, axisEnd }: CutsProps) {
  const { axis } = panel;
  let free = 0;
  return stackSums(panel).flatMap((sum, index) => {
    if (sum / axis.unit <= axisEnd) return [];
    const x = center(index);
    const hasRoom = x - FIGURE_PX / 2 >= free;
    if (hasRoom) free = x + FIGURE_PX / 2;
    return [
      <g key={index} transform={`translate(${String(x)} ${String(HEAD_PX)})`}>
        <path
          d={`M${String(-barPx / 2 - 2)} ${String(CUT_BELOW_PX + 3)}l${String(barPx + 4)} -6`}
          className={styles['cut']}
        />
        {hasRoom && (
          <text y={LABEL_PX} textAnchor="middle" className={styles['tick']}>
            {axis.format(sum / axis.unit)}
          </text>
        )}
      </g>,
    ];
  });
}
