import { scaleBand } from '@visx/scale';
import { useRef, useState } from 'react';
import type { KeyboardEvent, PointerEvent } from 'react';
import { AXIS_HEIGHT_PX, chartHeight, readingAt } from './model.ts';
import type { ChartModel } from './model.ts';
import { Panel } from './panel.tsx';
import { Reading } from './reading.tsx';
import { useWidth } from './use-width.ts';
import styles from './chart.module.css';

const GUTTER_PX = 60;
const TICK_PX = 64;
const PAGE_POINTS = 7;

type PlotProps = { model: ChartModel; chartId: string };

/**
 * Draws a chart. It is also a slider over its points of time: the pointer or the arrow keys choose one, whose
 * figures are shown and announced.
 */
export function Plot({ model, chartId }: PlotProps) {
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const [chosen, setChosen] = useState<number | null>(null);
  const last = model.points.length - 1;
  const index = Math.min(chosen ?? last, last);
  const plotWidth = Math.max(width - GUTTER_PX, 1);
  const stepPx = plotWidth / Math.max(model.points.length, 1);
  const isRight = index > last / 2;

  function pointAt(event: PointerEvent) {
    const left = event.currentTarget.getBoundingClientRect().left + GUTTER_PX;
    const at = Math.floor(((event.clientX - left) / plotWidth) * model.points.length);
    setChosen(Math.min(Math.max(at, 0), last));
  }

  return (
    <div
      ref={element}
      role="slider"
      tabIndex={0}
      className={styles['plot']}
      aria-label={model.label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index}
      aria-valuetext={readingAt(model, index)}
      onPointerMove={pointAt}
      onPointerDown={pointAt}
      onPointerLeave={() => {
        setChosen(null);
      }}
      onFocus={() => {
        setChosen((before) => before ?? last);
      }}
      onBlur={() => {
        setChosen(null);
      }}
      onKeyDown={(event) => {
        const next = nextIndex(event, index, last);
        if (next === undefined) return;
        event.preventDefault();
        setChosen(next);
      }}
    >
      {width > 0 && <Drawing model={model} chartId={chartId} width={width} chosen={chosen} />}
      {chosen !== null && (
        <Reading
          model={model}
          chartId={chartId}
          index={index}
          isRight={isRight}
          distancePx={8 + (isRight ? plotWidth - index * stepPx : GUTTER_PX + (index + 1) * stepPx)}
        />
      )}
    </div>
  );
}

/** Where a key leads; null hides the figures, undefined is another key. */
function nextIndex({ key }: KeyboardEvent, index: number, last: number): number | null | undefined {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageDown: -PAGE_POINTS,
    PageUp: PAGE_POINTS,
    Home: -last,
    End: last,
  };
  if (key === 'Escape') return null;
  const step = steps[key];
  return step === undefined ? undefined : Math.min(Math.max(index + step, 0), last);
}

type DrawingProps = PlotProps & { width: number; chosen: number | null };

function Drawing({ model, chartId, width, chosen }: DrawingProps) {
  const { points, panels } = model;
  const height = chartHeight(model);
  const bandwidth = (width - GUTTER_PX) / Math.max(points.length, 1);
  const xScale = scaleBand({
    domain: points.map((_, index) => index),
    range: [GUTTER_PX, width],
    padding: bandwidth > 4 ? 0.2 : 0,
  });
  const center = (index: number) => (xScale(index) ?? 0) + xScale.bandwidth() / 2;
  let top = 0;
  return (
    <svg width="100%" height={height} viewBox={`0 0 ${String(width)} ${String(height)}`} aria-hidden="true">
      {panels.map((panel, index) => {
        const y = top;
        top += panel.heightPx;
        return (
          <g key={index} transform={`translate(0 ${String(y)})`}>
            <Panel panel={panel} chartId={chartId} xScale={xScale} width={width} gutterPx={GUTTER_PX} />
          </g>
        );
      })}
      {chosen !== null && (
        <path
          d={`M${String(center(chosen))} 0V${String(height - AXIS_HEIGHT_PX)}`}
          className={styles['cursor']}
        />
      )}
      {ticksOf(points, center, width).map(({ index, x }) => (
        <text key={index} x={x} y={height - 8} textAnchor="middle" className={styles['tick']}>
          {points[index]?.tick}
        </text>
      ))}
    </svg>
  );
}

/** As many points as have room for their names, the last one first. */
function ticksOf(points: ChartModel['points'], center: (index: number) => number, width: number) {
  const all = points.map((_, index) => index);
  const majors = all.filter((index) => points[index]?.isMajor === true);
  let free = width;
  return (majors.length > 2 ? majors : all).toReversed().flatMap((index) => {
    const x = Math.min(center(index), width - TICK_PX / 2);
    if (x + TICK_PX / 2 > free || x - TICK_PX / 2 < GUTTER_PX - 8) return [];
    free = x - TICK_PX / 2;
    return [{ index, x }];
  });
}
