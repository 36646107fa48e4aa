import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import page from '../../../ui/page/page.module.css';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import { subscriptionQuery } from '../queries.ts';
import { checkoutQuery, isDecided } from './queries.ts';
import type { Checkout } from './queries.ts';

/** What became of the plan that the payment page leads back from. The address names it and proves nothing. */
export function Subscribed({ checkoutId }: { checkoutId: number }) {
  const { data, isError, error, refetch } = useQuery(checkoutQuery(checkoutId));
  const client = useQueryClient();
  const decided = data !== undefined && isDecided(data);
  useEffect(() => {
    if (!decided) return;
    void client.invalidateQueries({ queryKey: subscriptionQuery.queryKey });
    void client.invalidateQueries({ queryKey: ['plan', 'invoices'] });
    void client.invalidateQueries({ queryKey: ['pace'] });
  }, [client, decided]);
  if (data === undefined && isError) {
    return <ErrorMessage error={error} what="your payment" onRetry={() => void refetch()} />;
  }
  return (
    <div className={page['card']} role="status">
      {data === undefined ? <p>Looking for your payment…</p> : <Outcome checkout={data} />}
    </div>
  );
}

function Outcome({ checkout: { state, checkout_url } }: { checkout: Checkout }) {
  switch (state) {
    case 'started':
      return (
        <p>
          <strong>Thank you. Your plan has started.</strong>
        </p>
      );
    case 'processing':
      return (
        <p>
          Your payment is being processed, which takes some days with some payment methods. Your plan starts
          when it succeeds; until then, nothing changes.
        </p>
      );
    case 'open':
      return <p>Your plan isn’t paid yet. {checkout_url !== null && <a href={checkout_url}>Pay now</a>}</p>;
    case 'expired':
      return <p>The payment page has expired, and you weren’t charged. Choose a plan to open a new one.</p>;
    case 'refused':
      return (
        <p>
          The plan couldn’t start, because your account changed before it was paid. Your payment is refunded.
        </p>
      );
  }
}
