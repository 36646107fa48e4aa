import { useQuery } from '@tanstack/react-query';
import { serverNowMs } from '../../api/server-clock.ts';
import { sessionQuery } from '../../api/session.ts';
import { counted, daysUntil, formatNumber } from '../../ui/format.ts';
import { Day, PeriodDays } from '../../ui/moment.tsx';
import pageStyles from '../../ui/page/page.module.css';
import { Badge, Empty } from '../../ui/page/states.tsx';
import type { Subscription } from './queries.ts';
import { Renewal } from './renewal.tsx';
import type { Period } from './wording.ts';

const STATUS = {
  active: { tone: 'good', label: 'Active' },
  grace: { tone: 'warning', label: 'Grace period' },
  blocked: { tone: 'danger', label: 'Blocked' },
  expired: { tone: 'danger', label: 'Expired' },
  none: { tone: 'neutral', label: 'No plan' },
} as const;

/** What the account's calls are billed to, until when, and what follows. */
export function CurrentPlan({ subscription }: { subscription: Subscription }) {
  const { billing_period: period, payer, account_id } = subscription;
  const { data: session } = useQuery(sessionQuery);
  const isMember = payer.account_id !== account_id;
  const isForTeam = session?.member_role === 'billing' && session.account_id !== account_id;
  if (period === null && !isMember) return <NoPlan isBlocked={subscription.status === 'blocked'} />;
  const { tone, label } = STATUS[subscription.status];
  return (
    <section className={pageStyles['card']} aria-labelledby="current-plan">
      <div className={pageStyles['header']}>
        <h2 id="current-plan">{period === null ? 'Your team has no plan' : period.plan_name}</h2>
        <Badge tone={tone}>{label}</Badge>
      </div>
      {isMember && (
        <p>
          <bdi>{payer.name}</bdi> ({payer.email}) manages your team and pays for your calls. Only they, and
          members with the role Billing, can change the plan.
        </p>
      )}
      {isForTeam && (
        <p>
          You manage the billing of your team: this is the plan of <bdi>{payer.name}</bdi> ({payer.email}),
          who pays.
        </p>
      )}
      {period !== null && (
        <Facts
          period={period}
          status={subscription.status}
          graceEndsAt={
            subscription.payments?.due?.blocks_at ??
            (Date.parse(period.ended_at) > serverNowMs() ? null : period.grace_ends_at)
          }
        />
      )}
      {!isMember && period?.is_trial === true && subscription.status === 'active' && (
        <p>
          Your trial doesn’t renew. Subscribe to a plan before it ends, and your calls continue without a gap.
        </p>
      )}
      {!isMember && <Renewal subscription={subscription} />}
    </section>
  );
}

function NoPlan({ isBlocked }: { isBlocked: boolean }) {
  return (
    <Empty title="You have no plan yet">
      <p>
        {isBlocked
          ? 'Your account is blocked. Contact support.'
          : 'Calls to the API are refused until your account has a plan. Choose one below.'}
      </p>
    </Empty>
  );
}

/** `graceEndsAt`: null for a member of a team whose plan isn’t paid. */
type FactsProps = { period: Period; status: Subscription['status']; graceEndsAt: string | null };

function Facts({ period, status, graceEndsAt }: FactsProps) {
  const { usage, limits } = period;
  const limit = limits.points_limit;
  const included = period.points_included ?? 0;
  const inAddition = typeof limit === 'number' ? limit - included : 0;
  return (
    <dl className={pageStyles['facts']}>
      {period.product_name !== null && (
        <>
          <dt>Product</dt>
          <dd>{period.product_name}</dd>
        </>
      )}
      <dt>{period.is_trial ? 'Trial' : 'Billing period'}</dt>
      <dd>
        <PeriodDays period={period} />
        {status === 'active' && `, ${counted(daysUntil(period.ended_at), 'day')} left`}
      </dd>
      {status === 'grace' && graceEndsAt !== null && (
        <>
          <dt>Calls pass until</dt>
          <dd>
            <Day at={graceEndsAt} />
          </dd>
        </>
      )}
      <dt>Points used</dt>
      <dd>
        {formatNumber(usage.points_usage)}
        {typeof limit === 'number' ? ` of ${formatNumber(limit)}` : ', unlimited'}
        {inAddition > 0 &&
          `: ${formatNumber(included)} of your plan, ${formatNumber(inAddition)} in addition`}
      </dd>
    </dl>
  );
}
