import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { formatAmount } from '../credits/price.ts';
import { refreshingIfRefused, slotsPriceQuery } from '../queries.ts';
import type { Subscription } from '../queries.ts';
import { UnpaidChange } from './unpaid-change.tsx';

type BuySlotsProps = {
  wanted: number;
  slots: NonNullable<Subscription['team_slots']>;
  onBought: () => void;
  onClose: () => void;
};

/** Says what more team slots cost now before they are charged. */
export function BuySlots({ wanted, slots, onBought, onClose }: BuySlotsProps) {
  const client = useQueryClient();
  const price = useQuery(slotsPriceQuery(wanted));
  const [unpaid, setUnpaid] = useState<string | null>(null);
  const buy = async () => {
    if (price.data === undefined) return null;
    const { period_id, amount } = price.data;
    const body = { team_slots_limit: wanted, period_id, amount };
    const { payment_url } = await refreshingIfRefused(
      client,
      resultOf(api.POST('/api/console/subscription/team-slots', { body })),
    );
    await client.invalidateQueries({ queryKey: ['plan'] });
    void client.invalidateQueries({ queryKey: ['pace'] });
    return payment_url;
  };
  return (
    <Dialog title="Buy team slots" isOpen onClose={onClose}>
      {price.isPending && <Skeleton rows={2} />}
      {price.data === undefined && price.isError && (
        <ErrorMessage error={price.error} what="the price" onRetry={() => void price.refetch()} />
      )}
      {unpaid !== null && (
        <UnpaidChange paymentUrl={unpaid}>your team has {formatNumber(wanted)} slots</UnpaidChange>
      )}
      {price.data !== undefined && unpaid === null && (
        <Form
          submitLabel="Buy slots"
          onCancel={onClose}
          onSubmit={buy}
          onDone={(paymentUrl) => {
            if (paymentUrl === null) onBought();
            else setUnpaid(paymentUrl);
          }}
        >
          {() => (
            <p>
              Your team gets {formatNumber(wanted)} slots instead of {formatNumber(slots.limit)}. You pay{' '}
              <strong>{formatAmount(price.data.amount, price.data)}</strong> now, with tax, for the rest of
              the billing period. From then on, each additional slot costs {slots.price}.
            </p>
          )}
        </Form>
      )}
    </Dialog>
  );
}
