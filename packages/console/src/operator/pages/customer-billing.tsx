import { useQuery } from '@tanstack/react-query';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Moment, PeriodDays } from '../../ui/moment.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import {
  cancelSubscription,
  changePeriod,
  changePlanOf,
  deletePeriod,
  endPeriod,
  resumeSubscription,
  setPeriodBlocked,
  subscriptionQuery,
  voidCredit,
} from './account-queries.ts';
import { ActOn } from './act-on.tsx';
import { instantOf } from './next-period.ts';
import { creditsQuery, periodsQuery, plansQuery } from './queries.ts';
import type { AccountSummary, Period } from './queries.ts';
import { Listed } from './section.tsx';

type Props = {
  account: AccountSummary;
  /** Finance and admins. */
  canChange: boolean;
  /** Support, too. */
  canBlock: boolean;
};

const keyOf = ({ account_id }: AccountSummary) => ['account', account_id];

/** What the customer pays for: subscription, billing periods, credits. */
export function BillingLists({ account, canChange, canBlock }: Props) {
  const { account_id, subscription_id } = account;
  return (
    <>
      {subscription_id !== null && (
        <Subscription account={account} subscriptionId={subscription_id} canChange={canChange} />
      )}
      <Listed
        title="Billing periods"
        query={periodsQuery(account_id)}
        none="No billing periods."
        keyOf={({ period_id }) => period_id}
        columns={[
          { label: 'Plan', onCard: 'title', cell: ({ plan_name }) => <bdi>{plan_name}</bdi> },
          { label: 'Days', cell: (period) => <PeriodDays period={period} /> },
          { label: 'Points used', align: 'end', cell: ({ usage }) => formatNumber(usage.points) },
          { label: 'Requests', align: 'end', cell: ({ usage }) => formatNumber(usage.requests) },
          { label: 'Status', onCard: 'status', cell: ({ status }) => <PeriodStatus status={status} /> },
        ]}
        actions={
          canBlock
            ? (period) => <PeriodActs account={account} period={period} canChange={canChange} />
            : undefined
        }
      />
      <Listed
        title="Credits"
        query={creditsQuery(account_id)}
        none="No credits."
        keyOf={({ credit_id }) => credit_id}
        columns={[
          { label: 'Source', onCard: 'title', cell: ({ source }) => source },
          { label: 'Points', align: 'end', cell: ({ points }) => formatNumber(points) },
          { label: 'Left', align: 'end', cell: ({ points_remaining }) => formatNumber(points_remaining) },
          {
            label: 'Expires',
            cell: ({ expires_at }) => (expires_at === null ? 'Never' : <Moment at={expires_at} />),
          },
          { label: 'Note', cell: ({ note }) => <bdi>{note}</bdi> },
        ]}
        actions={
          canChange
            ? ({ credit_id, points_remaining }) =>
                points_remaining > 0 && (
                  <ActOn
                    queryKey={keyOf(account)}
                    action="Void"
                    row={`credit ${String(credit_id)}`}
                    title="Void what is left of this credit?"
                    typed={{ name: account.email, of: 'account' }}
                    act={(reason) => voidCredit(credit_id, reason)}
                  >
                    {`The ${formatNumber(points_remaining)} points that are left can’t be used from now on.`}
                  </ActOn>
                )
            : undefined
        }
      />
    </>
  );
}

const PERIOD_TONES = { active: 'good', grace: 'warning', blocked: 'danger', expired: 'neutral' } as const;

function PeriodStatus({ status }: Pick<Period, 'status'>) {
  if (status === null) return <Badge tone="neutral">upcoming</Badge>;
  return <Badge tone={PERIOD_TONES[status]}>{status}</Badge>;
}

/** While a subscription lasts, it opens and ends periods. */
function PeriodActs({ account, period, canChange }: Omit<Props, 'canBlock'> & { period: Period }) {
  const { period_id, status, plan_name } = period;
  const row = `billing period ${String(period_id)}`;
  const isOwn = canChange && account.subscription_id === null;
  const isBlocked = period.blocked_at !== null;
  if (status === 'expired') return null;
  return (
    <>
      {isOwn && status !== null && Date.parse(period.ended_at) > Date.now() && (
        <>
          <ChangePeriod account={account} period={period} row={row} />
          <ActOn
            queryKey={keyOf(account)}
            action="End now"
            row={row}
            title="End this billing period now?"
            typed={{ name: account.email, of: 'account' }}
            act={(reason) => endPeriod(period_id, reason)}
          >
            {`Calls are refused at once, without a grace window, unless another period follows. What ${plan_name} has left is lost.`}
          </ActOn>
        </>
      )}
      {isOwn && status === null && (
        <ActOn
          queryKey={keyOf(account)}
          action="Delete"
          row={row}
          title="Delete this billing period?"
          act={(reason) => deletePeriod(period_id, reason)}
        >
          It hasn’t started, so nothing was used of it.
        </ActOn>
      )}
      <ActOn
        queryKey={keyOf(account)}
        action={isBlocked ? 'Unblock' : 'Block'}
        row={row}
        title={isBlocked ? 'Unblock this billing period?' : 'Block this billing period?'}
        act={(reason) => setPeriodBlocked(period_id, !isBlocked, reason)}
      >
        {isBlocked
          ? 'Calls are accepted again.'
          : 'Calls are refused within a second. If it is the last period of a subscription, it isn’t renewed.'}
      </ActOn>
    </>
  );
}

function ChangePeriod({ account, period, row }: { account: AccountSummary; period: Period; row: string }) {
  const plans = useQuery(plansQuery);
  const end = period.ended_at.replace(/\.000Z$/, 'Z').replace(/T23:59:59Z$/, '');
  const offered = (plans.data ?? []).map(({ plan_id, name }) => ({ value: String(plan_id), label: name }));
  // It keeps a plan that isn't offered any more.
  const own = { value: String(period.plan_id), label: period.plan_name };
  const options = offered.some(({ value }) => value === own.value) ? offered : [own, ...offered];
  return (
    <ActOn
      queryKey={keyOf(account)}
      action="Change"
      row={row}
      title="Change this billing period?"
      fields={(errors) => (
        <>
          <SelectField label="Plan" name="plan_id" options={options} defaultValue={own.value} />
          <TextField
            label="Last day"
            name="ended_at"
            autoComplete="off"
            description="As 2026-07-31 or 2026-07-31T12:00:00Z, in UTC"
            defaultValue={end}
            error={errors['ended_at']}
          />
        </>
      )}
      act={(reason, { plan_id, ended_at = '' }) =>
        changePeriod(
          period.period_id,
          {
            ...(plan_id === own.value ? {} : { plan_id: Number(plan_id) }),
            ...(ended_at === end ? {} : { ended_at: instantOf(ended_at, true) }),
          },
          reason,
        )
      }
    >
      What is used stays used, and counts against the limits of the plan that you choose.
    </ActOn>
  );
}

function Subscription({
  account,
  subscriptionId,
  canChange,
}: Pick<Props, 'account' | 'canChange'> & { subscriptionId: number }) {
  const found = useQuery(subscriptionQuery(account.account_id, subscriptionId));
  const plans = useQuery(plansQuery);
  const nameOf = (planId: number) =>
    plans.data?.find(({ plan_id }) => plan_id === planId)?.name ?? `plan ${String(planId)}`;
  const { data } = found;
  return (
    <section className={page['card']} aria-labelledby="subscription">
      <h2 id="subscription">Subscription</h2>
      {found.isPending && <Skeleton rows={2} />}
      {found.isError && (
        <ErrorMessage error={found.error} what="the subscription" onRetry={() => void found.refetch()} />
      )}
      {data !== undefined && (
        <>
          <dl className={page['facts']}>
            <dt>Plan</dt>
            <dd>
              <bdi>{nameOf(data.plan_id)}</bdi>, by the {data.billing_interval}
            </dd>
            <dt>{data.cancel_at_period_end ? 'Ends' : 'Renews'}</dt>
            <dd>
              <Moment at={data.renews_at} />
            </dd>
            {data.pending_plan_id !== null && (
              <>
                <dt>Planned</dt>
                <dd>
                  <bdi>{nameOf(data.pending_plan_id)}</bdi> from then on
                </dd>
              </>
            )}
          </dl>
          {canChange && data.status === 'active' && (
            <div className={page['actions']}>
              <ActOn
                queryKey={keyOf(account)}
                action="Change plan"
                title="Change the plan?"
                fields={() => (
                  <>
                    <SelectField
                      label="Plan"
                      name="plan_id"
                      options={(plans.data ?? []).map(({ plan_id, name }) => ({
                        value: String(plan_id),
                        label: name,
                      }))}
                      defaultValue={String(data.plan_id)}
                    />
                    <SelectField label="When" name="when" options={WHEN} defaultValue="period_end" />
                  </>
                )}
                act={(reason, { plan_id, when }) =>
                  changePlanOf(subscriptionId, { plan_id: Number(plan_id), ...effectOf(when) }, reason)
                }
              >
                Nothing is charged or refunded by this.
              </ActOn>
              {data.cancel_at_period_end ? (
                <ActOn
                  queryKey={keyOf(account)}
                  action="Resume"
                  title="Undo the cancellation?"
                  act={(reason) => resumeSubscription(subscriptionId, reason)}
                >
                  The subscription renews again.
                </ActOn>
              ) : (
                <ActOn
                  queryKey={keyOf(account)}
                  action="Cancel subscription"
                  title="Cancel the subscription?"
                  typed={{ name: account.email, of: 'account' }}
                  fields={() => (
                    <SelectField label="When" name="when" options={CANCEL} defaultValue="period_end" />
                  )}
                  act={(reason, { when }) =>
                    cancelSubscription(subscriptionId, when === 'now' ? 'now' : 'period_end', reason)
                  }
                >
                  If it ends now, so does the billing period, and calls are refused at once.
                </ActOn>
              )}
            </div>
          )}
        </>
      )}
    </section>
  );
}

const WHEN = [
  { value: 'period_end', label: 'At the end of the billing period' },
  { value: 'keep', label: 'Now, and the usage so far counts' },
  { value: 'reset', label: 'Now, with a new billing period' },
];

const CANCEL = [
  { value: 'period_end', label: 'At the end of the billing period' },
  { value: 'now', label: 'Now' },
];

function effectOf(when: string | undefined) {
  if (when === 'keep' || when === 'reset') return { effective: 'now', usage: when } as const;
  return { effective: 'period_end' } as const;
}
