import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { counted } from '../../../ui/format.ts';
import page from '../../../ui/page/page.module.css';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import { isDecided, purchaseQuery } from './queries.ts';
import type { Purchase } from './queries.ts';

/** What became of the purchase that the payment page leads back from. The address names it and proves nothing. */
export function Bought({ purchaseId }: { purchaseId: number }) {
  const { data, isError, error, refetch } = useQuery(purchaseQuery(purchaseId));
  const client = useQueryClient();
  const decided = data !== undefined && isDecided(data);
  useEffect(() => {
    if (!decided) return;
    void client.invalidateQueries({ queryKey: ['credits'] });
    void client.invalidateQueries({ queryKey: ['pace'] });
    // Its limit has the points, too.
    void client.invalidateQueries({ queryKey: ['plan'] });
  }, [client, decided]);
  if (data === undefined && isError) {
    return <ErrorMessage error={error} what="your purchase" onRetry={() => void refetch()} />;
  }
  return (
    <div className={page['card']} role="status">
      {data === undefined ? <p>Checking your payment…</p> : <Outcome purchase={data} />}
    </div>
  );
}

function Outcome({ purchase: { state, points, pack_name, checkout_url } }: { purchase: Purchase }) {
  const added = counted(points, 'point');
  const are = points === 1 ? 'is' : 'are';
  switch (state) {
    case 'paid':
      return (
        <p>
          <strong>
            Thank you. {added} {are} yours,
          </strong>{' '}
          and your calls can use them now.
        </p>
      );
    case 'processing':
      return (
        <p>
          Your payment is processing. {added} {are} added when it succeeds. Some payment methods take several
          days.
        </p>
      );
    case 'open':
      return (
        <p>
          <bdi>{pack_name}</bdi> isn’t paid yet. {checkout_url !== null && <a href={checkout_url}>Pay now</a>}
        </p>
      );
    case 'failed':
      return <p>Your payment failed, and nothing was charged. Choose a pack to try again.</p>;
    case 'expired':
      return <p>The payment page was closed, and nothing was charged. Choose a pack to open a new one.</p>;
    case 'refunded':
      return <p>This purchase was refunded.</p>;
  }
}
