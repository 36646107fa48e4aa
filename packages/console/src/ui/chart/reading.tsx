import { Fragment } from 'react';
import { Swatch } from './marks.tsx';
import { panelRows, totalAt } from './model.ts';
import type { ChartModel } from './model.ts';
import styles from './chart.module.css';

type ReadingProps = {
  model: ChartModel;
  chartId: string;
  index: number;
  /** Whether the point is in the right half: the figures are shown on its left. */
  isRight: boolean;
  /** From the edge of the plot on that side to the point's bar. */
  distancePx: number;
};

/** The figures at the chosen point of time, beside it. The slider announces the same, with the zeros. */
export function Reading({ model, chartId, index, isRight, distancePx }: ReadingProps) {
  return (
    <div
      aria-hidden="true"
      className={styles['reading']}
      style={isRight ? { right: distancePx } : { left: distancePx }}
    >
      <strong>{model.points[index]?.name}</strong>
      {model.panels.map((panel, at) => {
        const rows = panelRows(panel, index);
        const total = totalAt(panel, index);
        return (
          <Fragment key={at}>
            {rows
              .filter(({ isZero }) => !isZero || total === null)
              .map(({ name, value, mark }) => (
                <div key={`${String(mark)} ${name}`} className={styles['row']}>
                  <Swatch chartId={chartId} mark={mark} />
                  <span className={styles['name']}>
                    <bdi>{name}</bdi>
                  </span>
                  <span>{value}</span>
                </div>
              ))}
            {total !== null && (
              <div className={styles['row']}>
                <strong className={styles['name']}>Total</strong>
                <strong>{total}</strong>
              </div>
            )}
          </Fragment>
        );
      })}
    </div>
  );
}
