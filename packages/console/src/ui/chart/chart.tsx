import { Suspense, useId } from 'react';
import type { ReactNode } from 'react';
import { axisTop } from './axis-top.ts';
import { Patterns, Swatch } from './marks.tsx';
import { chartHeight } from './model.ts';
import type { ChartModel } from './model.ts';
import { lazyPart } from '../part/lazy-part.ts';
import styles from './chart.module.css';

const Plot = lazyPart(async () => (await import('./plot.tsx')).Plot);

type ChartProps = { model: ChartModel; caption: ReactNode };

/**
 * A chart over time with its legend, of a height that is known before anything is loaded. The library that draws it
 * (docs/design/console.md) loads on demand. Put a table with the same figures beside it.
 */
export function Chart({ model, caption }: ChartProps) {
  const chartId = useId();
  const marks = model.panels.flatMap(({ stacks, lines }) => [
    ...stacks.map(({ name }, stack) => ({ name, mark: stack })),
    ...lines.map(({ name, style }) => ({ name, mark: style })),
  ]);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['caption']}>
        {caption}
        {model.panels.some((panel) => axisTop(panel).isCut) &&
          '. Bars with a figure above them are higher than the axis.'}
      </figcaption>
      <Patterns chartId={chartId} />
      {marks.length > 1 && (
        <ul className={styles['legend']} aria-label="Legend">
          {marks.map(({ name, mark }) => (
            <li key={`${String(mark)} ${name}`}>
              <Swatch chartId={chartId} mark={mark} />
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      <div className={styles['frame']} style={{ height: chartHeight(model) }}>
        <Suspense fallback={<div aria-busy="true" className={styles['loading']} />}>
          <Plot model={model} chartId={chartId} />
        </Suspense>
      </div>
    </figure>
  );
}
