import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/page/states.tsx';
import { useHashAction } from '../../ui/use-hash-action.ts';
import { ContactSales } from './contact-sales.tsx';
import styles from './plan.module.css';
import type { Interval, Plan, Subscription } from './queries.ts';
import { changeTarget, limitRows } from './wording.ts';

type PlanCardProps = {
  plan: Plan;
  interval: Interval;
  subscription: Subscription;
  isFitting: boolean;
  onChoose: () => void;
};

/** A plan with its price, its limits and what else it includes, the same rows on every card. */
export function PlanCard({ plan, interval, subscription, isFitting, onChoose }: PlanCardProps) {
  const own = subscription.subscription;
  const isCurrent = own?.plan_id === plan.plan_id && own.billing_interval === interval;
  const isNext = own?.pending?.plan_id === plan.plan_id && own.pending.billing_interval === interval;
  return (
    <li className={styles['plan']} data-current={isCurrent}>
      <div className={styles['name']}>
        <h3>
          <bdi>{plan.name}</bdi>
        </h3>
        {isCurrent && <Badge tone="good">Current plan</Badge>}
        {isNext && <Badge tone="neutral">Next plan</Badge>}
        {isFitting && <Badge tone="neutral">Fits your usage</Badge>}
      </div>
      <div>
        <p className={styles['price']}>{plan.prices[interval]}</p>
        {plan.yearly_saving_percent !== null && (
          <p className={styles['saving']}>{savingText(plan.yearly_saving_percent, interval)}</p>
        )}
      </div>
      <ul className={styles['included']}>
        {limitRows(plan).map(([label, value]) => (
          <li key={label}>
            <span className={styles['limit']}>{label}</span> <span>{value}</span>
          </li>
        ))}
        {plan.included.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {!isCurrent && !isNext && (
        <Choice plan={plan} interval={interval} subscription={subscription} onChoose={onChoose} />
      )}
    </li>
  );
}

function savingText(percent: number, interval: Interval): string {
  return interval === 'year'
    ? `You save ${String(percent)}% compared with paying monthly.`
    : `Paid yearly, it costs ${String(percent)}% less.`;
}

function Choice({
  plan,
  interval,
  subscription,
  onChoose,
}: Pick<PlanCardProps, 'plan' | 'interval' | 'subscription' | 'onChoose'>) {
  const { plan_id, name } = plan;
  const own = subscription.subscription;
  const { actions } = subscription.self_service;
  const isNew = own === null || subscription.payments?.is_checkout === true;
  if (!actions.includes(isNew ? 'subscribe' : 'change')) {
    return <ContactSales subscription={subscription} to={`to get ${name}`} />;
  }
  if (own?.cancel_at_period_end === true || subscription.status === 'blocked') return null;
  return (
    <ChoiceButton planId={plan_id} variant={isNew ? 'primary' : 'secondary'} onChoose={onChoose}>
      {isNew ? `Subscribe to ${name}` : `Change to ${changeTarget(own, plan, interval)}`}
    </ChoiceButton>
  );
}

type ChoiceButtonProps = {
  planId: number;
  variant: 'primary' | 'secondary';
  onChoose: () => void;
  children: string;
};

/** The search leads to it, too. */
function ChoiceButton({ planId, variant, onChoose, children }: ChoiceButtonProps) {
  useHashAction(`plan-${String(planId)}`, onChoose);
  return (
    <Button variant={variant} onPress={onChoose}>
      {children}
    </Button>
  );
}
