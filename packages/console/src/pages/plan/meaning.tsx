import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Day } from '../../ui/moment.tsx';
import pageStyles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { formatAmount } from './credits/price.ts';
import { useCreditsLeft } from './credits/queries.ts';
import styles from './plan.module.css';
import type { ChangePrice, Effect, Interval, Plan, Preview, Subscription } from './queries.ts';
import { PER_INTERVAL, changeTarget, points, priceInWords, remains, shortfalls } from './wording.ts';

type MeaningProps = { plan: Plan; interval: Interval; subscription: Subscription; preview: Preview };

/** What subscribing means: when it starts and renews, and what a trial loses. */
export function SubscribeSummary({ plan, interval, subscription, preview }: MeaningProps) {
  const period = subscription.billing_period;
  const isTrial = period?.is_trial === true && subscription.status === 'active';
  const credits = useCreditsLeft();
  return (
    <>
      <p>
        <bdi>{plan.name}</bdi> starts now with {points(plan.limits.points_limit)}
        {preview.now !== null && (
          <>
            . Its first period ends on <Day at={preview.now.ended_at} />
          </>
        )}
        , and it renews {PER_INTERVAL[interval]}.{' '}
        {plan.is_free ? 'It is free.' : `The price is ${plan.prices[interval] ?? ''}.`}
      </p>
      {isTrial && (
        <p>
          Your trial ends now: you lose its remaining <strong>{remains(period, true, credits)}</strong>.
        </p>
      )}
    </>
  );
}

type ChangeChoiceProps = MeaningProps & {
  /** What a start now is charged with; null if it isn't. */
  price: Pick<UseQueryResult<ChangePrice>, 'data' | 'isError' | 'error' | 'refetch'> | null;
};

/** The choice between now and the end of the period, each with what it costs, and what is lost or gained. */
export function ChangeChoice({ plan, interval, subscription, preview, price }: ChangeChoiceProps) {
  const { billing_period: period, subscription: own } = subscription;
  const gained = points(plan.limits.points_limit);
  const credits = useCreditsLeft();
  if (period === null || own === null) return null;
  return (
    <>
      <fieldset className={styles['choices']}>
        <legend>
          When should <bdi>{changeTarget(own, plan, interval)}</bdi> start?
        </legend>
        {preview.now !== null && (
          <Choice
            effective="now"
            title="Now"
            isDefault={preview.period_end === null}
            isDisabled={price !== null && price.data === undefined}
          >
            {interval === own.billing_interval ? (
              <>
                The current billing period continues with {gained} and still ends on{' '}
                <Day at={preview.now.ended_at} />.
                {period.usage.points_usage > 0 &&
                  ` What you have used so far, ${points(period.usage.points_usage)}, counts against them.`}
              </>
            ) : (
              <>
                A new billing period starts with {gained} and ends on <Day at={preview.now.ended_at} />. You
                lose the remaining {remains(period, true, credits)} of {own.plan_name}.
              </>
            )}
            {price !== null && <UpgradeCost price={price} />}
          </Choice>
        )}
        {preview.period_end !== null && (
          <Choice effective="period_end" title="At the end of the billing period" isDefault>
            <bdi>{own.plan_name}</bdi> and its remaining {remains(period, false, credits)} stay until then.{' '}
            <bdi>{plan.name}</bdi> starts on <Day at={preview.period_end.started_at} /> with {gained}.
            {preview.is_charged &&
              (plan.is_free
                ? ` ${own.plan_name} is cancelled then, and not charged again.`
                : ' You pay today’s price from then on.')}
          </Choice>
        )}
      </fieldset>
      {preview.now === null && (
        <p className={pageStyles['muted']}>
          {preview.is_charged && own.billing_interval === 'year' && interval === 'month'
            ? 'Monthly billing can start only when the year that you have paid for ends.'
            : 'Only a plan with higher limits can start before the period ends.'}
        </p>
      )}
      {shortfalls({ plan, subscription }).map((shortfall) => (
        <p key={shortfall}>{shortfall}</p>
      ))}
      <p>
        {plan.is_free ? 'It is free.' : priceInWords({ plan, subscription }, interval)} <bdi>{plan.name}</bdi>{' '}
        renews {PER_INTERVAL[interval]}.
      </p>
    </>
  );
}

function UpgradeCost({
  price: { data, isError, error, refetch },
}: {
  price: NonNullable<ChangeChoiceProps['price']>;
}) {
  if (data !== undefined) {
    return (
      <> You pay {formatAmount(data.amount, data)} now: the difference to what you have paid, with tax.</>
    );
  }
  if (!isError) return <> Looking up what it costs…</>;
  return <ErrorMessage error={error} what="what it costs" onRetry={() => void refetch()} />;
}

type ChoiceProps = {
  effective: Effect;
  title: string;
  isDefault: boolean;
  isDisabled?: boolean;
  children: ReactNode;
};

function Choice({ effective, title, isDefault, isDisabled = false, children }: ChoiceProps) {
  return (
    <label className={styles['choice']}>
      <input
        type="radio"
        name="effective"
        value={effective}
        defaultChecked={isDefault}
        disabled={isDisabled}
      />
      <span>
        <strong>{title}</strong>
        {children}
      </span>
    </label>
  );
}
