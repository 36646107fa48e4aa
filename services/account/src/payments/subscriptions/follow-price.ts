import { lastStartedPeriod } from '../../billing/periods/period-store.ts';
import { lockPlanForShare } from '../../billing/plans/store.ts';
import { changePlan, isCancellationDue } from '../../billing/subscriptions/changes.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { isUpgrade } from '../../self-service/upgrade.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import { reportIssue } from '../issues/store.ts';
import { findPriceByStripeId } from '../prices/store.ts';
import type { ProvidedSubscription } from '../subscription-provider.ts';
import { setKnownPrice } from './store.ts';
import type { StripeSubscription } from './store.ts';

/**
 * A price that came up at Stripe is a change of plan: a customer's upgrade that is paid, or one in Stripe's dashboard.
 * An upgrade changes the period in place, another interval opens a period, and anything else waits for the period's end.
 * The rows are locked. Returns what has changed.
 */
export async function followPrice(
  query: Query,
  { checkout_id, account_id, stripe_price_id }: StripeSubscription,
  subscription: Subscription,
  { id, price_id, anchor, isEnded }: ProvidedSubscription,
): Promise<string | null> {
  if (isEnded || price_id === undefined || price_id === stripe_price_id) return null;
  const now = await databaseNow(query);
  if (subscription.ended_at !== null || isCancellationDue(subscription, now)) return null;
  await setKnownPrice(query, checkout_id, price_id);
  const price = await findPriceByStripeId(query, price_id);
  if (price === undefined) {
    const details = { stripe_subscription_id: id, price_id };
    await reportIssue(query, { kind: 'price_not_mapped', object_id: id, account_id, details });
    return null;
  }
  const { subscription_id, plan_id: before, billing_interval: intervalBefore } = subscription;
  const { plan_id, billing_interval } = price;
  if (plan_id === before && billing_interval === intervalBefore) return null;
  const terms = await termsOf(query, subscription, price, now);
  const wanted = { plan_id, billing_interval, ...terms, paid: { anchor } };
  await changePlan(query, subscription_id, wanted, PAYMENTS_ACTOR);
  return `subscription ${String(subscription_id)}: plan ${String(before)} to ${String(plan_id)} (${terms.effective})`;
}

async function termsOf(
  query: Query,
  { subscription_id, billing_interval }: Subscription,
  price: { plan_id: number; billing_interval: Subscription['billing_interval'] },
  now: Date,
) {
  if (price.billing_interval !== billing_interval) return { effective: 'now', usage: 'reset' } as const;
  const last = await lastStartedPeriod(query, subscription_id, now);
  const plan = await lockPlanForShare(query, price.plan_id);
  return last !== undefined && plan !== undefined && isUpgrade(last, plan)
    ? ({ effective: 'now', usage: 'keep' } as const)
    : ({ effective: 'period_end' } as const);
}
