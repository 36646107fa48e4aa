import type { LineStyle } from './model.ts';
import styles from './chart.module.css';

const TILE_PX = 6;

/** What is drawn over a pale tile of the colour; the first stack is solid. */
const TILES = [
  null,
  <path key="rising" d="M-1 1l2-2M0 6l6-6M5 7l2-2" />,
  <circle key="dots" cx={3} cy={3} r={1.2} />,
  <path key="level" d="M0 3h6" />,
  <path key="grid" d="M0 3h6M3 0v6" />,
  <path key="falling" d="M-1 5l2 2M0 0l6 6M5-1l2 2" />,
];

const patternId = (chartId: string, stack: number) => `${chartId}-stack-${String(stack)}`;

const stackClass = (stack: number) => styles[`stack${String(stack + 1)}`] ?? '';

/** The patterns of a chart's stacks, which tell them apart without colour. */
export function Patterns({ chartId }: { chartId: string }) {
  return (
    <svg width={0} height={0} aria-hidden="true" className={styles['patterns']}>
      <defs>
        {TILES.map((tile, stack) => (
          <pattern
            key={patternId(chartId, stack)}
            id={patternId(chartId, stack)}
            width={TILE_PX}
            height={TILE_PX}
            patternUnits="userSpaceOnUse"
            className={stackClass(stack)}
          >
            <rect
              width={TILE_PX}
              height={TILE_PX}
              className={tile === null ? styles['tile'] : styles['pale']}
            />
            <g className={styles['drawn']}>{tile}</g>
          </pattern>
        ))}
      </defs>
    </svg>
  );
}

const SWATCH_PX = 14;

type SwatchProps = { chartId: string; mark: number | LineStyle };

/** A stack or a line, as it looks in the chart. */
export function Swatch({ chartId, mark }: SwatchProps) {
  return (
    <svg width={SWATCH_PX} height={SWATCH_PX} aria-hidden="true" className={styles['swatch']}>
      {typeof mark === 'number' ? (
        <StackRect
          chartId={chartId}
          stack={mark}
          x={0.5}
          y={0.5}
          width={SWATCH_PX - 1}
          height={SWATCH_PX - 1}
        />
      ) : (
        <path d={`M0 ${String(SWATCH_PX / 2)}h${String(SWATCH_PX)}`} className={lineClass(mark)} />
      )}
    </svg>
  );
}

type StackRectProps = { chartId: string; stack: number; x: number; y: number; width: number; height: number };

export function StackRect({ chartId, stack, ...rect }: StackRectProps) {
  return (
    <rect
      {...rect}
      fill={`url(#${patternId(chartId, stack)})`}
      className={`${styles['bar'] ?? ''} ${stackClass(stack)}`}
    />
  );
}

export function lineClass(style: LineStyle): string {
  return `${styles['line'] ?? ''} ${styles[style] ?? ''}`;
}
