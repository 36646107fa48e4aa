import type { Usage } from '../../api/usage.ts';
import { formatNumber } from '../format.ts';
import { bucketLocalStart, bucketName } from './bucket-time.ts';
import { stacksOf } from './groups.ts';
import { MEASURES, MEASURE_TEXT } from './measures.ts';
import type { Measure } from './measures.ts';
import styles from './usage.module.css';

type UsageTableProps = {
  usage: Usage;
  measure: Measure;
  before?: { usage: Usage; name: string } | null;
};

type Column = { name: string; values: readonly (number | null)[]; total: number };

/** The figures of a UsageChart, exactly. Without grouping it has all measures, as the CSV does. */
export function UsageTable({ usage, measure, before = null }: UsageTableProps) {
  const columns = columnsOf({ usage, measure, before });
  const { interval, buckets } = usage;
  return (
    <div
      className={styles['scroll']}
      tabIndex={0}
      role="region"
      aria-label={interval === 'day' ? 'Usage by day' : 'Usage by hour'}
    >
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{interval === 'day' ? 'Day (UTC)' : 'Hour (UTC)'}</th>
            {columns.map(({ name }, index) => (
              <th key={index} scope="col" className={styles['figure']}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.map(({ started_at }, row) => (
            <tr key={started_at}>
              <th scope="row">
                <time dateTime={started_at} title={bucketLocalStart(started_at)}>
                  {bucketName(started_at, interval)}
                </time>
              </th>
              {columns.map(({ values }, index) => (
                <td key={index} className={styles['figure']}>
                  {formatNumber(values[row] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            {columns.map(({ total }, index) => (
              <td key={index} className={styles['figure']}>
                {formatNumber(total)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function columnsOf({ usage, measure, before = null }: UsageTableProps): Column[] {
  const { field, column } = MEASURE_TEXT[measure];
  const compared =
    before === null
      ? []
      : [{ ...columnOf(before.usage, field), name: `${column}, ${before.name.toLowerCase()}` }];
  if (usage.group_by === 'none') {
    const all = MEASURES.map((each) => ({
      ...columnOf(usage, MEASURE_TEXT[each].field),
      name: MEASURE_TEXT[each].column,
    }));
    return [...all, ...compared];
  }
  const stacks = stacksOf(usage, field, column).map(({ name, values }) => ({
    name,
    values,
    total: values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
  }));
  return [{ ...columnOf(usage, field), name: `All ${column.toLowerCase()}` }, ...compared, ...stacks];
}

function columnOf({ buckets, usage }: Usage, field: keyof Usage['usage']) {
  return { values: buckets.map((bucket) => bucket.usage[field]), total: usage[field] };
}
