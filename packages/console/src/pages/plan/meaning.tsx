import type { ReactNode } from 'react';
import { Day } from '../../ui/moment.tsx';
import pageStyles from '../../ui/page/page.module.css';
import styles from './plan.module.css';
import type { Effect, Interval, Plan, Preview, Subscription } from './queries.ts';
import { PER_INTERVAL, points, priceInWords, remains, shortfalls } from './wording.ts';

type MeaningProps = { plan: Plan; interval: Interval; subscription: Subscription; preview: Preview };

/** What subscribing means: when it starts and renews, and what a trial loses. */
export function SubscribeSummary({ plan, interval, subscription, preview }: MeaningProps) {
  const period = subscription.billing_period;
  const isTrial = period?.is_trial === true && subscription.status === 'active';
  return (
    <>
      <p>
        <bdi>{plan.name}</bdi> starts now with {points(plan.limits.points_limit)}
        {preview.now !== null && (
          <>
            . Its first period ends on <Day at={preview.now.ended_at} />
          </>
        )}
        , and it renews {PER_INTERVAL[interval]}. The price is {plan.prices[interval]}.
      </p>
      {isTrial && (
        <p>
          Your trial ends now: you lose its remaining <strong>{remains(period, true)}</strong>.
        </p>
      )}
    </>
  );
}

/** The choice between now and the end of the period, each with what is lost or gained. */
export function ChangeChoice({ plan, interval, subscription, preview }: MeaningProps) {
  const { billing_period: period, subscription: own } = subscription;
  const gained = points(plan.limits.points_limit);
  if (period === null || own === null) return null;
  return (
    <>
      <fieldset className={styles['choices']}>
        <legend>
          When should <bdi>{plan.name}</bdi> start?
        </legend>
        {preview.now !== null && (
          <Choice effective="now" title="Now">
            A new billing period starts with {gained} and ends on <Day at={preview.now.ended_at} />
            {interval === own.billing_interval && ', when the current one would have ended'}. You lose the
            remaining {remains(period, interval !== own.billing_interval)} of {own.plan_name}.
          </Choice>
        )}
        {preview.period_end !== null && (
          <Choice effective="period_end" title="At the end of the billing period">
            <bdi>{own.plan_name}</bdi> and its remaining {remains(period, false)} stay until then.{' '}
            <bdi>{plan.name}</bdi> starts on <Day at={preview.period_end.started_at} /> with {gained}.
          </Choice>
        )}
      </fieldset>
      {preview.now === null && (
        <p className={pageStyles['muted']}>
          Only a plan with higher limits can start before the period ends.
        </p>
      )}
      {shortfalls({ plan, subscription }).map((shortfall) => (
        <p key={shortfall}>{shortfall}</p>
      ))}
      <p>
        {priceInWords({ plan, subscription }, interval)} <bdi>{plan.name}</bdi> renews{' '}
        {PER_INTERVAL[interval]}.
      </p>
    </>
  );
}

function Choice({ effective, title, children }: { effective: Effect; title: string; children: ReactNode }) {
  return (
    <label className={styles['choice']}>
      <input type="radio" name="effective" value={effective} defaultChecked={effective === 'period_end'} />
      <span>
        <strong>{title}</strong>
        {children}
      </span>
    </label>
  );
}
