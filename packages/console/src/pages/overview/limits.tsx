import { Link } from '@tanstack/react-router';
import { formatDay, formatNumber, formatShare } from '../../ui/format.ts';
import type { QuantityKind } from '../../ui/usage/quantity.tsx';
import { formatQuantity } from '../../ui/usage/quantity.tsx';
import page from '../../ui/page/page.module.css';
import { LimitMeter, MomentaryLimit } from './limit-meter.tsx';
import { hasForecast, noForecastText } from './forecast.ts';
import { LIMIT_NAMES } from './limit-names.ts';
import type { Pace } from './queries.ts';
import styles from './overview.module.css';

const ACCRUING = [
  { field: 'points_limit', kind: 'count', noun: 'points' },
  { field: 'time_sec_limit', kind: 'seconds', noun: '' },
  { field: 'traffic_bytes_limit', kind: 'bytes', noun: '' },
] as const;

const MOMENTARY = [
  { field: 'rate_limit', one: 'call per minute', many: 'calls per minute' },
  { field: 'session_limit', one: 'call at a time', many: 'calls at a time' },
  { field: 'subscription_limit', one: 'open subscription', many: 'open subscriptions' },
] as const;

/** One meter per limit that usage adds up to, and the limits of one moment. */
export function Limits({ pace }: { pace: Pace }) {
  const { limits, team_slots: slots, momentary_limits: momentary, elapsed_share: elapsedShare } = pace;
  const isCurrent = pace.status === 'active';
  const hasMeter = Object.keys(limits).length > 0;
  const further = MOMENTARY.filter(({ field }) => momentary[field] !== undefined);
  return (
    <section aria-labelledby="limits" className={page['card']}>
      <div className={page['header']}>
        <h2 id="limits">Limits</h2>
        {isCurrent && (
          <p className={styles['muted']}>
            <span className={styles['legend']} aria-hidden="true" /> {formatShare(elapsedShare)} of the
            billing period has passed
          </p>
        )}
      </div>
      {!hasMeter && <p>Your plan limits neither points, streaming time nor traffic.</p>}
      <div className={styles['limits']}>
        {ACCRUING.map(({ field, kind, noun }) => {
          const limit = limits[field];
          if (limit === undefined) return null;
          return (
            <LimitMeter
              key={field}
              name={LIMIT_NAMES[field]}
              noun={noun}
              kind={kind}
              usage={limit.usage}
              limit={limit.limit}
              usedShare={limit.used_share}
              {...(isCurrent ? { elapsedShare } : {})}
            >
              {isCurrent && <Forecast limit={limit} kind={kind} pace={pace} />}
            </LimitMeter>
          );
        })}
      </div>
      {further.length > 0 && (
        <ul className={styles['momentary']} aria-label="Further limits">
          {further.map(({ field, one, many }) => {
            const limit = momentary[field] ?? 0;
            return <MomentaryLimit key={field} limit={limit} per={limit === 1 ? one : many} />;
          })}
        </ul>
      )}
      {slots !== null && (
        <p className={styles['muted']}>
          Team: {formatNumber(slots.used)} of {formatNumber(slots.limit)}{' '}
          {slots.limit === 1 ? 'slot' : 'slots'}
          {pace.payer === null && (
            <>
              {' · '}
              <Link to="/plan">Get more slots</Link>
            </>
          )}
        </p>
      )}
    </section>
  );
}

type LimitPace = NonNullable<Pace['limits']['points_limit']>;

type ForecastProps = { limit: LimitPace; kind: QuantityKind; pace: Pace };

function Forecast({ limit, kind, pace }: ForecastProps) {
  const { reached, whole_period, last_24_hours } = limit;
  if (reached) {
    return (
      <p className={styles['warning']}>
        The limit is reached. Calls are refused until the period ends on{' '}
        {formatDay(pace.billing_period.ended_at)}.
      </p>
    );
  }
  if (!hasForecast(pace)) return <p className={styles['muted']}>{noForecastText(pace)}</p>;
  // The chart's forecast and the figures above go by the same one.
  const isPeriods = whole_period.per_day > last_24_hours.per_day;
  const { per_day, reached_at } = isPeriods ? whole_period : last_24_hours;
  const perDay = `${usedPerDay(per_day, kind, isPeriods ? 'in this billing period' : 'in the last 24 hours')} `;
  if (reached_at !== null) {
    return (
      <p className={styles['warning']}>
        {perDay}At this pace you run out on {formatDay(reached_at)}.
      </p>
    );
  }
  return <p className={styles['muted']}>{perDay}At this pace it lasts for the whole period.</p>;
}

function usedPerDay(perDay: number, kind: QuantityKind, span: string): string {
  if (perDay === 0) return `Nothing used ${span}.`;
  return `${formatQuantity(perDay, kind)} a day ${span}.`;
}
