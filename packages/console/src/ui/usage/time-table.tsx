import type { Usage } from '../../api/usage.ts';
import { formatNumber } from '../format.ts';
import { bucketLocalStart, bucketName } from './bucket-time.ts';
import styles from './usage.module.css';

/** Figures of each point of time, null where there is none. Without a total, there is nothing to add up. */
export type TimeColumn = { name: string; values: readonly (number | null)[]; total?: number };

type TimeTableProps = {
  interval: Usage['interval'];
  starts: readonly string[];
  columns: readonly TimeColumn[];
};

/** Exact figures over time, the newest first: the table beside a chart. */
export function TimeTable({ interval, starts, columns }: TimeTableProps) {
  const isDaily = interval === 'day';
  const newestFirst = starts.map((start, row) => ({ start, row })).toReversed();
  const hasTotals = columns.some(({ total }) => total !== undefined);
  return (
    <div
      className={styles['scroll']}
      tabIndex={0}
      role="region"
      aria-label={isDaily ? 'Usage by day' : 'Usage by hour'}
    >
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{isDaily ? 'Day (UTC)' : 'Hour (UTC)'}</th>
            {columns.map(({ name }, index) => (
              <th key={index} scope="col" className={styles['figure']}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newestFirst.map(({ start, row }) => (
            <tr key={start} data-empty={columns.every(({ values }) => (values[row] ?? 0) === 0)}>
              <th scope="row">
                <time dateTime={start} title={bucketLocalStart(start)}>
                  {bucketName(start, interval)}
                </time>
              </th>
              {columns.map(({ values }, index) => (
                <td key={index} className={styles['figure']}>
                  <Figure value={values[row] ?? null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {hasTotals && (
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              {columns.map(({ total }, index) => (
                <td key={index} className={styles['figure']}>
                  <Figure value={total ?? null} />
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

function Figure({ value }: { value: number | null }) {
  return value === null ? '–' : formatNumber(value);
}
