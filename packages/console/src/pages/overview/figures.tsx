import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { explainCode } from '../../api/code-explanations.ts';
import { formatNumber, formatShortDay } from '../../ui/format.ts';
import page from '../../ui/page/page.module.css';
import { hasForecast } from './forecast.ts';
import type { Pace, Refusals } from './queries.ts';
import styles from './overview.module.css';

type FiguresProps = { pace: Pace; callsToday: number | undefined; refusals: Refusals | undefined };

/** How much is left, how long it lasts, and what was refused. */
export function Figures({ pace, callsToday, refusals }: FiguresProps) {
  const points = pace.limits.points_limit;
  const [main] = refusals?.codes ?? [];
  const current = refusals?.buckets.at(-1)?.calls ?? 0;
  return (
    <dl className={styles['figures']} aria-label="At a glance">
      <Figure name="Points left" note={points === undefined ? '' : `of ${formatNumber(points.limit)}`}>
        {points === undefined ? 'Unlimited' : formatNumber(Math.max(points.limit - points.usage, 0))}
      </Figure>
      <Lasts pace={pace} />
      <Figure name="Calls today" note="Since 00:00 UTC">
        {callsToday === undefined ? '–' : formatNumber(callsToday)}
      </Figure>
      <Figure
        name="Refused, last 24 hours"
        note={
          main !== undefined && (
            <>
              <Link to="/requests">{explainCode(main.code).title}</Link>
              {current > 0 && ` · ${formatNumber(current)} in this hour`}
            </>
          )
        }
      >
        {refusals === undefined ? '–' : formatNumber(refusals.calls)}
      </Figure>
    </dl>
  );
}

function Lasts({ pace }: { pace: Pace }) {
  const { limits, billing_period: period } = pace;
  const all = Object.values(limits);
  const isReached = all.some(({ reached }) => reached);
  const [earliest] = all
    .flatMap(({ last_24_hours, whole_period }) => [last_24_hours.reached_at, whole_period.reached_at])
    .filter((date) => date !== null)
    .toSorted();
  if (isReached) return <Figure name="Runs out">Used up</Figure>;
  if (earliest !== undefined) {
    return (
      <Figure name="Runs out" note="At the faster of the period’s and the last day’s pace">
        {formatShortDay(earliest)}
      </Figure>
    );
  }
  return (
    <Figure name="Lasts until" note={hasForecast(pace) ? 'The end of the period' : 'No forecast yet'}>
      {hasForecast(pace) ? formatShortDay(period.ended_at) : '–'}
    </Figure>
  );
}

function Figure({ name, note, children }: { name: string; note?: ReactNode; children: ReactNode }) {
  return (
    <div className={page['card']}>
      <dt className={styles['name']}>{name}</dt>
      <dd className={styles['used']}>{children}</dd>
      <dd className={styles['muted']}>{note}</dd>
    </div>
  );
}
