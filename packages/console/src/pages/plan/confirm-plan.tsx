import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { ChangeChoice, SubscribeSummary } from './meaning.tsx';
import { CheckoutPlan } from './payment/checkout-plan.tsx';
import { UnpaidChange } from './payment/unpaid-change.tsx';
import { changing, previewQuery, refreshingIfRefused, upgradePriceQuery } from './queries.ts';
import type { ChangePrice, Effect, Interval, Plan, Preview, Subscription } from './queries.ts';
import { changeTarget } from './wording.ts';

type ConfirmPlanProps = {
  plan: Plan;
  interval: Interval;
  subscription: Subscription;
  onClose: () => void;
};

/** Says what the plan means in points and days before it is confirmed. */
export function ConfirmPlan({ plan, interval, subscription, onClose }: ConfirmPlanProps) {
  // A refusal may tell that another plan has been bought meanwhile; it stays in sight.
  const [isCheckout] = useState(subscription.payments?.is_checkout === true && !plan.is_free);
  const preview = useQuery({ ...previewQuery(plan.plan_id, interval), enabled: !isCheckout });
  const isChange = subscription.subscription !== null && !isCheckout;
  const title = (
    <>
      {isChange ? 'Change to' : 'Subscribe to'}{' '}
      <bdi>{isChange ? changeTarget(subscription.subscription, plan, interval) : plan.name}</bdi>
    </>
  );
  if (isCheckout) {
    return (
      <Dialog title={title} isOpen onClose={onClose}>
        <CheckoutPlan plan={plan} interval={interval} subscription={subscription} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {preview.data === undefined && preview.isPending && <Skeleton rows={3} />}
      {preview.data === undefined && preview.isError && (
        <ErrorMessage
          error={preview.error}
          what="the plan change preview"
          onRetry={() => void preview.refetch()}
        />
      )}
      {preview.data !== undefined && (
        <Confirmation
          plan={plan}
          interval={interval}
          subscription={subscription}
          preview={preview.data}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function Confirmation({
  plan,
  interval,
  subscription,
  preview,
  onClose,
}: ConfirmPlanProps & { preview: Preview }) {
  const client = useQueryClient();
  const isChange = subscription.subscription !== null;
  const wanted = { plan_id: plan.plan_id, billing_interval: interval, period_id: preview.period_id };
  const isCharged = preview.is_charged && preview.now !== null;
  const price = useQuery({ ...upgradePriceQuery(plan.plan_id, interval), enabled: isCharged });
  const [unpaid, setUnpaid] = useState<string | null>(null);
  if (unpaid !== null) {
    return (
      <UnpaidChange paymentUrl={unpaid}>
        <bdi>{plan.name}</bdi> starts
      </UnpaidChange>
    );
  }
  const change = async (effective: Effect): Promise<string | null> => {
    if (effective === 'now' && price.data !== undefined) {
      return upgrade(client, { ...wanted, ...price.data });
    }
    const body = { ...wanted, effective };
    await changing(client, resultOf(api.POST('/api/console/subscription/change-plan', { body })));
    return null;
  };
  const subscribe = async () => {
    await changing(client, resultOf(api.POST('/api/console/subscription', { body: wanted })));
    return null;
  };
  return (
    <Form
      submitLabel={isChange ? 'Change plan' : 'Subscribe'}
      onCancel={onClose}
      onSubmit={({ effective }) =>
        isChange ? change(effective === 'now' ? 'now' : 'period_end') : subscribe()
      }
      onDone={(paymentUrl) => {
        if (paymentUrl === null) onClose();
        else setUnpaid(paymentUrl);
      }}
    >
      {() =>
        isChange ? (
          <ChangeChoice
            plan={plan}
            interval={interval}
            subscription={subscription}
            preview={preview}
            price={isCharged ? price : null}
          />
        ) : (
          <SubscribeSummary plan={plan} interval={interval} subscription={subscription} preview={preview} />
        )
      }
    </Form>
  );
}

/** Returns where the invoice is to be paid; null if it is paid. */
async function upgrade(
  client: QueryClient,
  {
    plan_id,
    billing_interval,
    period_id,
    amount,
  }: ChangePrice & { plan_id: number; billing_interval: Interval },
): Promise<string | null> {
  const body = { plan_id, billing_interval, period_id, amount };
  const { payment_url } = await refreshingIfRefused(
    client,
    resultOf(api.POST('/api/console/subscription/upgrade', { body })),
  );
  await client.invalidateQueries({ queryKey: ['plan'] });
  void client.invalidateQueries({ queryKey: ['pace'] });
  return payment_url;
}
