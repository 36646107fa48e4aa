import { lastStartedPeriod } from '../../billing/periods/period-store.ts';
import { isCancellationDue, planTeamSlots, setTeamSlots } from '../../billing/subscriptions/changes.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { limitsOf } from '../../self-service/upgrade.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import { setKnownSlots, setPendingSlots } from './store.ts';
import type { StripeSubscription } from './store.ts';
import type { ProvidedSubscription } from '../subscription-provider.ts';

/**
 * Another number of slots at Stripe is one here: more at once, since they are paid, and fewer from the next period on.
 * A change of plan at Stripe was taken over before. The rows are locked. Returns what has changed.
 */
export async function followSlots(
  query: Query,
  { checkout_id, slots: known }: StripeSubscription,
  subscription: Subscription,
  { slots, isEnded }: ProvidedSubscription,
): Promise<string | null> {
  if (isEnded || slots === known) return null;
  const now = await databaseNow(query);
  if (subscription.ended_at !== null || isCancellationDue(subscription, now)) return null;
  await setKnownSlots(query, checkout_id, slots);
  const { subscription_id, team_slots_limit } = subscription;
  const last = await lastStartedPeriod(query, subscription_id, now);
  const included = last === undefined ? null : limitsOf(last).team_slots_limit;
  if (included === null) return null;
  const present = team_slots_limit ?? included;
  // A larger plan includes some of what was bought: those are neither charged nor released.
  const more = slots - Math.min(known, present - included);
  if (more === 0) return null;
  const wanted = Math.max(included, present + more);
  if (more > 0) {
    await setTeamSlots(query, subscription_id, wanted, PAYMENTS_ACTOR);
  } else {
    await setPendingSlots(query, subscription_id, slots);
    await planTeamSlots(query, subscription_id, wanted, PAYMENTS_ACTOR);
  }
  return `subscription ${String(subscription_id)}: team slots ${String(present)} to ${String(wanted)}`;
}
