import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/page/states.tsx';
import { ContactSales } from './contact-sales.tsx';
import styles from './plan.module.css';
import type { Interval, Plan, Subscription } from './queries.ts';
import { limitRows } from './wording.ts';

type PlanCardProps = {
  plan: Plan;
  interval: Interval;
  subscription: Subscription;
  onChoose: () => void;
};

/** A plan with its price, what it includes and its limits, the same rows on every card. */
export function PlanCard({ plan, interval, subscription, onChoose }: PlanCardProps) {
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
      </div>
      <p className={styles['price']}>{plan.prices[interval]}</p>
      <div>
        <ul className={styles['included']}>
          {plan.included.map((line) => (
            <li key={line}>{line}</li>
          ))}
          {plan.team_slots !== null && (
            <li>
              Up to {plan.team_slots.max} team members
              {plan.team_slots.price !== null && `, additional ones ${plan.team_slots.price}`}
            </li>
          )}
        </ul>
      </div>
      <dl className={styles['limits']}>
        {limitRows(plan).map(([label, value]) => (
          <Row key={label} label={label} value={value} />
        ))}
      </dl>
      {!isCurrent && !isNext && <Choice name={plan.name} subscription={subscription} onChoose={onChoose} />}
    </li>
  );
}

function Row({ label, value }: { label: string; value: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Choice({
  name,
  subscription,
  onChoose,
}: Pick<PlanCardProps, 'subscription' | 'onChoose'> & { name: string }) {
  const own = subscription.subscription;
  const { actions } = subscription.self_service;
  if (!actions.includes(own === null ? 'subscribe' : 'change')) {
    return <ContactSales subscription={subscription} to={`to get ${name}`} />;
  }
  if (own?.cancel_at_period_end === true || subscription.status === 'blocked') return null;
  return (
    <Button variant={own === null ? 'primary' : 'secondary'} onPress={onChoose}>
      {own === null ? `Subscribe to ${name}` : `Change to ${name}`}
    </Button>
  );
}
