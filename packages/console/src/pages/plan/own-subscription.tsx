import { useQuery } from '@tanstack/react-query';
import pageStyles from '../../ui/page/page.module.css';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { ownSubscriptionQuery } from './queries.ts';
import { Renewal } from './renewal.tsx';

/** What a team's member subscribed to before they joined: it goes on until they cancel it. */
export function OwnSubscription({ accountId }: { accountId: number }) {
  const { data, isError, error, refetch } = useQuery(ownSubscriptionQuery(accountId));
  if (data === undefined) {
    return isError ? (
      <ErrorMessage error={error} what="your own subscription" onRetry={() => void refetch()} />
    ) : null;
  }
  if (data.subscription === null) return null;
  return (
    <section className={pageStyles['card']} aria-labelledby="own-subscription">
      <h2 id="own-subscription">Your own subscription</h2>
      <p>Your team pays for your calls, so they don’t use this plan while you are a member.</p>
      <Renewal subscription={data} />
    </section>
  );
}
