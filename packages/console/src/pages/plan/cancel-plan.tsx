import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Day } from '../../ui/moment.tsx';
import pageStyles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { changing } from './queries.ts';
import type { Subscription } from './queries.ts';
import { remains } from './wording.ts';

type CancelPlanProps = {
  subscription: Subscription;
  own: NonNullable<Subscription['subscription']>;
  isOpen: boolean;
  onClose: () => void;
};

/** Says what stops and when, and that it can be undone. */
export function CancelPlan({ subscription, own, isOpen, onClose }: CancelPlanProps) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      changing(
        client,
        resultOf(
          api.POST('/api/console/subscription/cancel', {
            params: { query: { account_id: subscription.account_id } },
          }),
        ),
      ),
    onSuccess: onClose,
  });
  const isMember = subscription.payer.account_id !== subscription.account_id;
  const period = isMember ? null : subscription.billing_period;
  const refused = (subscription.team_slots?.used ?? 1) > 1 ? 'calls of your whole team' : 'calls';
  return (
    <Dialog title={`Cancel ${own.plan_name}?`} isOpen={isOpen} onClose={onClose}>
      <p>
        Your plan stays active until <Day at={own.next_period_at} />
        {period !== null && <>, with the {remains(period, false)} that you have left</>}. After that it
        doesn’t renew{isMember ? '. Your team pays for your calls.' : `, and ${refused} are refused.`}
      </p>
      <p>You can undo this until then.</p>
      {cancel.isError && <ErrorMessage error={cancel.error} />}
      <div className={pageStyles['actions']}>
        <Button
          variant="danger"
          isPending={cancel.isPending}
          onPress={() => {
            cancel.mutate();
          }}
        >
          Cancel plan
        </Button>
        <Button onPress={onClose}>Keep plan</Button>
      </div>
    </Dialog>
  );
}
