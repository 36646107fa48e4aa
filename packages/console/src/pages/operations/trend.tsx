import type { OperationUsage, UsedOperation } from '../../api/operations.ts';

const WIDTH = 96;
const HEIGHT = 24;
const DAY_MS = 86_400_000;

type TrendProps = { usage: Pick<OperationUsage, 'from' | 'to'>; operation: UsedOperation };

/** Points of an operation by day, each trend by its own maximum. The figures are in the CSV of usage. */
export function Trend({ usage, operation }: TrendProps) {
  const fromMs = Date.parse(usage.from);
  const count = Math.round((Date.parse(usage.to) - fromMs) / DAY_MS);
  const most = Math.max(...operation.days.map(({ points_usage }) => points_usage), 1);
  const width = WIDTH / count;
  return (
    <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} aria-hidden="true">
      {operation.days.map(({ day, points_usage }) => {
        const height = Math.max((points_usage / most) * HEIGHT, 1);
        return (
          <rect
            key={day}
            x={((Date.parse(day) - fromMs) / DAY_MS) * width}
            y={HEIGHT - height}
            width={Math.max(width - 1, 1)}
            height={height}
            fill="currentColor"
          />
        );
      })}
    </svg>
  );
}
