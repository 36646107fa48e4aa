import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { usageQuery } from '../../../api/usage.ts';
import type { Usage } from '../../../api/usage.ts';
import type { components } from '../../../api/schema.d.ts';
import { Chart } from '../../../ui/chart/chart.tsx';
import type { ChartModel } from '../../../ui/chart/model.ts';
import { formatNumber } from '../../../ui/format.ts';
import page from '../../../ui/page/page.module.css';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import { bucketPoint } from '../../../ui/usage/bucket-time.ts';
import { axisOf } from '../../../ui/usage/measures.ts';
import { preloadChart } from '../../../ui/usage/preload-chart.ts';
import { TimeTable } from '../../../ui/usage/time-table.tsx';
import { fasterPace, pointsOfPeriod } from './points-of-period.ts';
import styles from './points-per-day.module.css';

const DAYS_HEIGHT_PX = 120;
const TOTAL_HEIGHT_PX = 160;

type LimitPace = components['schemas']['PaceOfLimit'];

type PointsPerDayProps = {
  /** The billing period that calls are charged to. */
  period: { period_id: number; started_at: string; ended_at: string };
  hasForecast: boolean;
  /** The pace of the points limit; undefined without such a limit. */
  points: LimitPace | undefined;
};

/** Points per day of the billing period, and what they add up to against the limit, with the forecast dashed. */
export function PointsPerDay({ period, points, hasForecast }: PointsPerDayProps) {
  const { data, isPending, isError, error, refetch } = useQuery(
    usageQuery({ interval: 'day', group_by: 'none', period_id: period.period_id }),
  );
  useEffect(preloadChart, []);
  return (
    <section
      className={`${page['card'] ?? ''} ${styles['card'] ?? ''}`}
      aria-labelledby="points-per-day"
      aria-busy={isPending}
    >
      <h2 id="points-per-day">Points per day</h2>
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your points per day" onRetry={() => void refetch()} />
      )}
      {data !== undefined && (
        <Figures usage={data} points={points} endedAt={period.ended_at} hasForecast={hasForecast} />
      )}
    </section>
  );
}

type FiguresProps = {
  usage: Usage;
  points: LimitPace | undefined;
  endedAt: string;
  hasForecast: boolean;
};

function Figures({ usage, points, endedAt, hasForecast }: FiguresProps) {
  // A member sees only what it used itself, while the limit is the whole team's (docs/design/counting.md).
  const pace = usage.view === 'billed' ? points : undefined;
  const { days, perDay, soFar, forecast } = pointsOfPeriod(usage, pace, endedAt, hasForecast);
  const starts = days.map((day) => `${day}T00:00:00Z`);
  const shown = pace === undefined ? perDay.filter((value) => value !== null).length : days.length;
  const model = modelOf({ pace, starts: starts.slice(0, shown), perDay, soFar, forecast });
  const totals = [
    { name: 'Used so far', measure: 'points' as const, values: soFar },
    { name: 'Forecast', measure: 'points' as const, values: forecast },
  ];
  return (
    <>
      <Chart
        model={model}
        caption={
          pace === undefined
            ? `${usage.view === 'own' ? 'Your points' : 'Points'} per day of the billing period (UTC)`
            : 'Points per day (UTC), and below it the points used so far in the billing period'
        }
      />
      <details>
        <summary>Show as a table</summary>
        <TimeTable
          interval="day"
          starts={starts.slice(0, shown)}
          columns={[
            { name: 'Points', measure: 'points', values: perDay },
            ...(pace === undefined ? [] : totals),
          ]}
        />
      </details>
    </>
  );
}

type Drawn = {
  pace: LimitPace | undefined;
  starts: readonly string[];
  perDay: readonly (number | null)[];
  soFar: readonly (number | null)[];
  forecast: readonly (number | null)[];
};

function modelOf({ pace, starts, perDay, soFar, forecast }: Drawn): ChartModel {
  const format = formatNumber;
  const axis = axisOf('points', 0);
  const days = { name: 'Points', values: perDay };
  const panels: ChartModel['panels'] = [
    { heightPx: DAYS_HEIGHT_PX, stacks: [days], lines: [], limit: null, format, axis },
  ];
  const hasForecast = forecast.some((value) => value !== null);
  const total: ChartModel['panels'] =
    pace === undefined
      ? []
      : [
          {
            heightPx: TOTAL_HEIGHT_PX,
            stacks: [],
            lines: [
              { name: 'Used so far', style: 'solid', values: soFar },
              ...(hasForecast
                ? [
                    {
                      name: `Forecast at ${format(fasterPace(pace))} per day`,
                      style: 'dashed' as const,
                      values: forecast,
                    },
                  ]
                : []),
            ],
            limit: { name: `Limit ${format(pace.limit)}`, value: pace.limit },
            format,
            axis,
          },
        ];
  return {
    label: 'Points per day',
    points: starts.map((start) => bucketPoint(start, 'day')),
    panels: [...panels, ...total],
  };
}
