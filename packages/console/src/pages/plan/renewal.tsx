import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Day } from '../../ui/moment.tsx';
import pageStyles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { ContactSales } from './contact-sales.tsx';
import { changing } from './queries.ts';
import type { Subscription } from './queries.ts';
import { PER_INTERVAL, changeTarget } from './wording.ts';

/** Loaded right after the page, which is usable without it. */
const CancelPlan = lazyPart(async () => (await import('./cancel-plan.tsx')).CancelPlan);

type Own = NonNullable<Subscription['subscription']>;

/** What happens at the end of the period: renewal, a planned change or a cancellation, and how to change that. */
export function Renewal({ subscription }: { subscription: Subscription }) {
  const { subscription: own, account_id, payer } = subscription;
  const [isCancelling, setCancelling] = useState(false);
  if (own === null) return null;
  const isMember = payer.account_id !== account_id;
  // The page can have the team's plan beside it.
  const plan = isMember ? 'your own plan' : 'plan';
  const canCancel = subscription.self_service.actions.includes('cancel');
  return (
    <>
      <p>
        <Outlook own={own} />
      </p>
      {!canCancel && <ContactSales subscription={subscription} to="to cancel your plan" />}
      <div className={pageStyles['actions']}>
        {own.pending !== null && !own.cancel_at_period_end && !isMember && (
          <KeepPlan subscription={subscription} own={own} />
        )}
        {canCancel && own.cancel_at_period_end && <Resume accountId={account_id} plan={plan} />}
        {canCancel && !own.cancel_at_period_end && (
          <Button
            onPress={() => {
              setCancelling(true);
            }}
          >
            Cancel {plan}
          </Button>
        )}
      </div>
      <Suspense>
        <CancelPlan
          subscription={subscription}
          own={own}
          isOpen={isCancelling}
          onClose={() => {
            setCancelling(false);
          }}
        />
      </Suspense>
    </>
  );
}

function Outlook({ own }: { own: Own }) {
  const { plan_name, pending, following, next_period_at: at, billing_interval } = own;
  if (own.cancel_at_period_end) {
    return (
      <>
        <strong>{plan_name} is cancelled</strong> and ends on <Day at={at} />.
        {following !== null && (
          <>
            {' '}
            <bdi>{following.plan_name}</bdi> starts then.
          </>
        )}{' '}
        Until then you can undo this.
      </>
    );
  }
  if (pending !== null) {
    const next = { plan_id: pending.plan_id, name: pending.plan_name };
    return (
      <>
        {plan_name} changes to <strong>{changeTarget(own, next, pending.billing_interval)}</strong> on{' '}
        <Day at={at} />.
      </>
    );
  }
  return (
    <>
      {plan_name} renews {PER_INTERVAL[billing_interval]}, next on <Day at={at} />.
    </>
  );
}

function Resume({ accountId, plan }: { accountId: number; plan: string }) {
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: () =>
      changing(
        client,
        resultOf(
          api.POST('/api/console/subscription/resume', { params: { query: { account_id: accountId } } }),
        ),
      ),
  });
  return (
    <>
      <Button
        variant="primary"
        isPending={resume.isPending}
        onPress={() => {
          resume.mutate();
        }}
      >
        Resume {plan}
      </Button>
      {resume.isError && <ErrorMessage error={resume.error} />}
    </>
  );
}

/** Revokes a planned change by asking for the present plan. */
function KeepPlan({ subscription, own }: { subscription: Subscription; own: Own }) {
  const client = useQueryClient();
  const { plan_id, plan_name, billing_interval } = own;
  const period_id = subscription.billing_period?.period_id ?? null;
  const keep = useMutation({
    mutationFn: () =>
      changing(
        client,
        resultOf(
          api.POST('/api/console/subscription/change-plan', {
            body: { plan_id, billing_interval, effective: 'period_end', period_id },
          }),
        ),
      ),
  });
  return (
    <>
      <Button
        isPending={keep.isPending}
        onPress={() => {
          keep.mutate();
        }}
      >
        Keep {plan_name}
      </Button>
      {keep.isError && <ErrorMessage error={keep.error} />}
    </>
  );
}
