import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { sessionQuery } from '../../api/session.ts';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import { Catalogue } from './catalogue.tsx';
import { Bought } from './credits/bought.tsx';
import { Credits } from './credits/credits.tsx';
import { CurrentPlan } from './current-plan.tsx';
import { OwnSubscription } from './own-subscription.tsx';
import { PaymentDue } from './payment/payment-due.tsx';
import { Subscribed } from './payment/subscribed.tsx';
import { catalogueQuery, subscriptionQuery } from './queries.ts';
import { TeamSlots } from './team-slots.tsx';

// Below what most people come for.
const TopUp = lazyPart(async () => (await import('./top-up/top-up.tsx')).TopUp);

const Overage = lazyPart(async () => (await import('./overage/overage.tsx')).Overage);

const Invoices = lazyPart(async () => (await import('./payment/invoices.tsx')).Invoices);

/** `/user/plan`: the current plan, credits beside it, team slots, and the plans to choose from. */
export function PlanPage() {
  const subscription = useQuery(subscriptionQuery);
  const catalogue = useQuery(catalogueQuery);
  const accountId = useQuery(sessionQuery).data?.account_id;
  const failed = [subscription, catalogue].find(({ data, isError }) => isError && data === undefined);
  const { purchase, checkout } = useSearch({ from: '/signed-in/plan' });
  const { data } = subscription;
  const plans = catalogue.data;
  if (failed !== undefined) {
    return (
      <>
        <PageHeader title="Plan" />
        <ErrorMessage error={failed.error} what="your plan" onRetry={() => void failed.refetch()} />
      </>
    );
  }
  const isMember = data !== undefined && data.payer.account_id !== data.account_id;
  return (
    <>
      <PageHeader title="Plan" />
      {(data === undefined || plans === undefined) && <Skeleton rows={8} />}
      {data !== undefined && plans !== undefined && (
        <>
          {purchase !== undefined && <Bought purchaseId={purchase} />}
          {checkout !== undefined && <Subscribed checkoutId={checkout} />}
          <PaymentDue subscription={data} />
          <CurrentPlan subscription={data} />
          {accountId !== undefined && accountId !== data.payer.account_id && (
            <OwnSubscription accountId={accountId} />
          )}
          <Credits isMember={isMember} />
          {!isMember && data.payments !== null && (
            <Suspense fallback={null}>
              <Overage />
              <TopUp />
            </Suspense>
          )}
          {!isMember && <Catalogue subscription={data} plans={plans} />}
          {data.team_slots !== null && <TeamSlots subscription={data} slots={data.team_slots} />}
          <Suspense fallback={null}>
            <Invoices hasPortal={data.payments?.has_portal === true} />
          </Suspense>
        </>
      )}
    </>
  );
}
