import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { ChangeChoice, SubscribeSummary } from './meaning.tsx';
import { CheckoutPlan } from './payment/checkout-plan.tsx';
import { changing, previewQuery } from './queries.ts';
import type { Effect, Interval, Plan, Preview, Subscription } from './queries.ts';

type ConfirmPlanProps = {
  plan: Plan;
  interval: Interval;
  subscription: Subscription;
  onClose: () => void;
};

/** Says what the plan means in points and days before it is confirmed. */
export function ConfirmPlan({ plan, interval, subscription, onClose }: ConfirmPlanProps) {
  // A refusal may tell that another plan has been bought meanwhile; it stays in sight.
  const [isCheckout] = useState(subscription.payments?.is_checkout === true);
  const preview = useQuery({ ...previewQuery(plan.plan_id, interval), enabled: !isCheckout });
  const isChange = subscription.subscription !== null && !isCheckout;
  const title = (
    <>
      {isChange ? 'Change to' : 'Subscribe to'} <bdi>{plan.name}</bdi>
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
  const effectOf = (value: string | undefined): Effect => (value === 'now' ? 'now' : 'period_end');
  return (
    <Form
      submitLabel={isChange ? 'Change plan' : 'Subscribe'}
      onCancel={onClose}
      onSubmit={({ effective }) =>
        changing(
          client,
          resultOf(
            isChange
              ? api.POST('/api/console/subscription/change-plan', {
                  body: { ...wanted, effective: effectOf(effective) },
                })
              : api.POST('/api/console/subscription', { body: wanted }),
          ),
        )
      }
      onDone={onClose}
    >
      {() =>
        isChange ? (
          <ChangeChoice plan={plan} interval={interval} subscription={subscription} preview={preview} />
        ) : (
          <SubscribeSummary plan={plan} interval={interval} subscription={subscription} preview={preview} />
        )
      }
    </Form>
  );
}
