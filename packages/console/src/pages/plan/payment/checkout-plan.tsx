import { useQueryClient } from '@tanstack/react-query';
import { api, resultOf } from '../../../api/client.ts';
import { Form } from '../../../ui/form/form.tsx';
import { useCreditsLeft } from '../credits/queries.ts';
import { refreshingIfRefused } from '../queries.ts';
import type { Interval, Plan, Subscription } from '../queries.ts';
import { PER_INTERVAL, points, remains } from '../wording.ts';

type CheckoutPlanProps = {
  plan: Plan;
  interval: Interval;
  subscription: Subscription;
  onClose: () => void;
};

/** What subscribing on the payment page means. Nothing changes before it is paid. */
export function CheckoutPlan({ plan, interval, subscription, onClose }: CheckoutPlanProps) {
  const client = useQueryClient();
  const credits = useCreditsLeft();
  const period = subscription.billing_period;
  const isReplacing = period !== null && subscription.status === 'active';
  return (
    <Form
      submitLabel="Continue to payment"
      onCancel={onClose}
      onSubmit={() =>
        refreshingIfRefused(
          client,
          resultOf(
            api.POST('/api/console/subscription/checkout', {
              body: { plan_id: plan.plan_id, billing_interval: interval },
            }),
          ),
        )
      }
      onDone={({ checkout_url }) => {
        if (checkout_url !== null) window.location.assign(checkout_url);
      }}
    >
      {() => (
        <>
          <p>
            <bdi>{plan.name}</bdi> starts when you have paid, with {points(plan.limits.points_limit)}, and
            renews {PER_INTERVAL[interval]}. The price is {plan.prices[interval]}.
          </p>
          {isReplacing && (
            <p>
              {period.is_trial ? 'Your trial' : <bdi>{period.plan_name}</bdi>} continues until then. When the
              plan starts, you lose the remaining <strong>{remains(period, true, credits)}</strong>.
            </p>
          )}
        </>
      )}
    </Form>
  );
}
