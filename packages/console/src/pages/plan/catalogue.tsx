import { useQuery } from '@tanstack/react-query';
import { Suspense, useRef, useState } from 'react';
import { serverNowMs } from '../../api/server-clock.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import pageStyles from '../../ui/page/page.module.css';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { useHashAction } from '../../ui/use-hash-action.ts';
import { ContactSales } from './contact-sales.tsx';
import { fittingPlan } from './fitting-plan.ts';
import { PlanCard } from './plan-card.tsx';
import styles from './plan.module.css';
import { recentPeriodsQuery } from './queries.ts';
import type { Interval, Plan, Subscription } from './queries.ts';

const ConfirmPlan = lazyPart(async () => (await import('./confirm-plan.tsx')).ConfirmPlan);

const INTERVALS = [
  { value: 'month', label: 'Monthly' },
  { value: 'year', label: 'Yearly' },
] as const;

/** The public plans beside each other; the price is for the chosen interval. */
export function Catalogue({ subscription, plans }: { subscription: Subscription; plans: readonly Plan[] }) {
  const own = subscription.subscription;
  const [interval, setInterval] = useState<Interval>(own?.billing_interval ?? 'month');
  const [chosen, setChosen] = useState<Plan | null>(null);
  const offered = INTERVALS.filter(({ value }) => plans.some(({ prices }) => prices[value] !== null));
  const shown = offered.some(({ value }) => value === interval) ? interval : (offered[0]?.value ?? 'month');
  const { data: periods } = useQuery(recentPeriodsQuery);
  const fitting = fittingPlan(plans, periods ?? [], shown, serverNowMs());
  const heading = useRef<HTMLHeadingElement>(null);
  useHashAction('change', () => {
    heading.current?.focus();
  });
  return (
    <section aria-labelledby="plans" className={pageStyles['card']}>
      <div className={pageStyles['header']}>
        <h2 id="plans" ref={heading} tabIndex={-1}>
          {own === null ? 'Choose a plan' : 'Change your plan'}
        </h2>
        {offered.length > 1 && (
          <SelectField
            label="Billing"
            name="interval"
            options={offered}
            value={shown}
            onChange={(value) => {
              setInterval(value === 'year' ? 'year' : 'month');
            }}
          />
        )}
      </div>
      {fitting !== null && (
        <p className={pageStyles['muted']}>
          “Fits your usage” marks the plan with the fewest points that are enough for your last billing
          periods.
        </p>
      )}
      {plans.length === 0 && <ContactSales subscription={subscription} to="to get a plan" />}
      {own?.cancel_at_period_end === true && <p>Resume your plan before you change it.</p>}
      <ul className={styles['plans']}>
        {plans
          .filter(({ prices }) => prices[shown] !== null)
          .map((plan) => (
            <PlanCard
              key={plan.plan_id}
              plan={plan}
              interval={shown}
              subscription={subscription}
              isFitting={plan.plan_id === fitting}
              onChoose={() => {
                setChosen(plan);
              }}
            />
          ))}
      </ul>
      {chosen !== null && (
        <Suspense>
          <ConfirmPlan
            plan={chosen}
            interval={shown}
            subscription={subscription}
            onClose={() => {
              setChosen(null);
            }}
          />
        </Suspense>
      )}
    </section>
  );
}
