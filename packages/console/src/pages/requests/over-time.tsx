import { explainCode } from '../../api/code-explanations.ts';
import { Chart } from '../../ui/chart/chart.tsx';
import { MAX_STACKS } from '../../ui/chart/model.ts';
import type { ChartModel, ChartValues } from '../../ui/chart/model.ts';
import { formatNumber } from '../../ui/format.ts';
import {
  bucketHeading,
  bucketName,
  bucketPoint,
  bucketTitle,
  bucketZone,
} from '../../ui/usage/bucket-time.ts';
import type { RefusalCounts } from './queries.ts';
import page from '../../ui/page/page.module.css';
import styles from './requests.module.css';

const HEIGHT_PX = 160;

/** Numbers by hour or day as a chart, and as a table without the times that have no calls. */
export function OverTime({ counts }: { counts: RefusalCounts }) {
  const { interval, buckets } = counts;
  const model: ChartModel = {
    label: `Refused and failed calls per ${interval}`,
    points: buckets.map(({ started_at }) => bucketPoint(started_at, interval)),
    panels: [
      {
        heightPx: HEIGHT_PX,
        stacks: stacksOf(counts),
        lines: [],
        limit: null,
        format: formatNumber,
        axis: { unit: 1, format: formatNumber },
      },
    ],
  };
  return (
    <section className={styles['section']} aria-labelledby="over-time">
      <h2 id="over-time">Over time</h2>
      <Chart model={model} caption={`Refused and failed calls per ${interval} (${bucketZone(interval)})`} />
      <details className={styles['over-time']}>
        <summary className={styles['summary']}>Show as a table</summary>
        <Table counts={counts} />
      </details>
    </section>
  );
}

function Table({ counts: { interval, buckets } }: { counts: RefusalCounts }) {
  return (
    <table className={page['table']}>
      <thead>
        <tr>
          <th scope="col">{bucketHeading(interval)}</th>
          <th scope="col">Codes</th>
          <th scope="col" className={page['number']}>
            Calls
          </th>
        </tr>
      </thead>
      <tbody>
        {buckets
          .filter(({ calls }) => calls > 0)
          .toReversed()
          .map(({ started_at, calls, codes }) => (
            <tr key={started_at}>
              <td>
                <time dateTime={started_at} title={bucketTitle(started_at, interval)}>
                  {bucketName(started_at, interval)}
                </time>
              </td>
              <td className={styles['codes']}>
                {codes.map((one) => `${one.code} ${formatNumber(one.calls)}`).join(', ')}
              </td>
              <td className={page['number']}>{formatNumber(calls)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

/** A stack for each code, as many as can be told apart; the rarest are one. */
function stacksOf({ codes, buckets }: RefusalCounts): ChartValues[] {
  const named = codes.slice(0, codes.length > MAX_STACKS ? MAX_STACKS - 1 : MAX_STACKS);
  const valuesOf = (isIn: (code: string) => boolean) =>
    buckets.map((bucket) =>
      bucket.codes.reduce((sum, { code, calls }) => (isIn(code) ? sum + calls : sum), 0),
    );
  const stacks = named.map(({ code }) => ({
    name: explainCode(code).title,
    values: valuesOf((one) => one === code),
  }));
  if (named.length === codes.length) return stacks;
  const names = new Set(named.map(({ code }) => code));
  return [...stacks, { name: 'Other codes', values: valuesOf((one) => !names.has(one)) }];
}
