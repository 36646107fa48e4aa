import { useId, useState } from 'react';
import type { Usage } from '../../api/usage.ts';
import { Button } from '../button.tsx';
import { formatNumber } from '../format.ts';
import { bucketName, bucketTitle, bucketHeading } from './bucket-time.ts';
import { MEASURE_TEXT } from './measures.ts';
import type { Measure } from './measures.ts';
import { Quantity } from './quantity.tsx';
import styles from './usage.module.css';

/** The latest, unless all are asked for. */
const SHOWN_ROWS = 10;

/** Up to this many figures fit beside a day on a phone. */
const BESIDE_MAX_COLUMNS = 2;

/** Figures of each point of time, null where there is none. Without a total, there is nothing to add up. */
export type TimeColumn = {
  name: string;
  measure: Measure;
  values: readonly (number | null)[];
  total?: number;
};

type TimeTableProps = {
  interval: Usage['interval'];
  starts: readonly string[];
  columns: readonly TimeColumn[];
};

/** Figures over time, the newest first: the table beside a chart. On paper it has all rows. */
export function TimeTable({ interval, starts, columns }: TimeTableProps) {
  const id = useId();
  const [isWhole, setWhole] = useState(false);
  const isDaily = interval === 'day';
  const newestFirst = starts.map((start, row) => ({ start, row })).toReversed();
  const hasTotals = columns.some(({ total }) => total !== undefined);
  return (
    <>
      <div
        id={id}
        className={styles['scroll']}
        tabIndex={0}
        role="region"
        aria-label={isDaily ? 'Usage by day' : 'Usage by hour'}
      >
        <table className={styles['table']} data-cards={columns.length > BESIDE_MAX_COLUMNS || undefined}>
          <thead>
            <tr>
              <th scope="col">{bucketHeading(interval)}</th>
              {columns.map(({ name }, index) => (
                <th key={index} scope="col" className={styles['figure']}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {newestFirst.map(({ start, row }, position) => (
              <tr
                key={start}
                data-folded={(!isWhole && position >= SHOWN_ROWS) || undefined}
                data-empty={columns.every(({ values }) => (values[row] ?? 0) === 0)}
              >
                <th scope="row">
                  <time dateTime={start} title={bucketTitle(start, interval)}>
                    {bucketName(start, interval)}
                  </time>
                </th>
                {columns.map(({ name, values, measure }, index) => (
                  <td key={index} data-label={name} className={styles['figure']}>
                    <Figure value={values[row] ?? null} measure={measure} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
          {hasTotals && (
            <tfoot>
              <tr>
                <th scope="row">Total</th>
                {columns.map(({ name, total, measure }, index) => (
                  <td key={index} data-label={name} className={styles['figure']}>
                    <Figure value={total ?? null} measure={measure} />
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {starts.length > SHOWN_ROWS && (
        <div className={styles['more']}>
          <Button
            isReading
            aria-expanded={isWhole}
            aria-controls={id}
            onPress={() => {
              setWhole(!isWhole);
            }}
          >
            {isWhole
              ? `Show the latest ${formatNumber(SHOWN_ROWS)}`
              : `Show all ${formatNumber(starts.length)} ${isDaily ? 'days' : 'hours'}`}
          </Button>
        </div>
      )}
    </>
  );
}

function Figure({ value, measure }: { value: number | null; measure: Measure }) {
  return value === null ? '–' : <Quantity value={value} kind={MEASURE_TEXT[measure].kind} />;
}
