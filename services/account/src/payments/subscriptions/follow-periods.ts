import { isPeriodStart } from '../../billing/periods/calendar.ts';
import { isCancellationDue, moveBillingDate } from '../../billing/subscriptions/changes.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import { findPriceByStripeId } from '../prices/store.ts';
import type { ProvidedSubscription } from '../subscription-provider.ts';
import { setPaidUntil } from './store.ts';
import type { StripeSubscription } from './store.ts';

/**
 * Another end of Stripe's period than ours, such as after a change of the billing date in its dashboard, is that of our
 * next period; the running one stays. The rows are locked. Returns what has changed.
 */
export async function followPeriods(
  query: Query,
  { checkout_id }: StripeSubscription,
  subscription: Subscription,
  { price_id, anchor: theirs, period_ends_at, isPaid, isEnded }: ProvidedSubscription,
): Promise<string | null> {
  const { subscription_id, billing_interval } = subscription;
  if (isEnded || subscription.ended_at !== null) return null;
  if (isCancellationDue(subscription, await databaseNow(query))) return null;
  const price = price_id === undefined ? undefined : await findPriceByStripeId(query, price_id);
  // An interval of its own, which operators see, says nothing of our periods.
  if (price?.billing_interval !== billing_interval) return null;
  const isKnown = isPeriodStart(subscription, period_ends_at);
  const anchor = isPeriodStart({ anchor: theirs, billing_interval }, period_ends_at)
    ? theirs
    : period_ends_at;
  const followed = isKnown
    ? subscription
    : await moveBillingDate(query, subscription_id, anchor, PAYMENTS_ACTOR);
  const { renews_at } = followed;
  // The next period makes up for the difference, and no renewal's invoice is of it.
  if (isPaid && period_ends_at > renews_at && !isPeriodStart(followed, renews_at)) {
    await setPaidUntil(query, checkout_id, period_ends_at);
  }
  if (isKnown) return null;
  return `subscription ${String(subscription_id)}: the next period ends at ${period_ends_at.toISOString()}, as Stripe's`;
}
