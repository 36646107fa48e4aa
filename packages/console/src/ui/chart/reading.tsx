import { Swatch } from './marks.tsx';
import { panelRows } from './model.ts';
import type { ChartModel } from './model.ts';
import styles from './chart.module.css';

type ReadingProps = {
  model: ChartModel;
  chartId: string;
  index: number;
  /** Whether the point is in the right half: the figures are shown in the other one. */
  isRight: boolean;
  gutterPx: number;
};

/** The figures at the chosen point of time. The slider announces the same. */
export function Reading({ model, chartId, index, isRight, gutterPx }: ReadingProps) {
  const rows = model.panels.flatMap((panel) => panelRows(panel, index));
  return (
    <div
      aria-hidden="true"
      className={styles['reading']}
      style={isRight ? { left: gutterPx + 8 } : { right: 8 }}
    >
      <strong>{model.points[index]?.name}</strong>
      {rows.map(({ name, value, mark }) => (
        <div key={`${String(mark)} ${name}`} className={styles['row']}>
          <Swatch chartId={chartId} mark={mark} />
          <span className={styles['name']}>
            <bdi>{name}</bdi>
          </span>
          <span>{value}</span>
        </div>
      ))}
    </div>
  );
}
