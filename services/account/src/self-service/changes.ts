import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { lockAccount } from '../identity/accounts/account-store.ts';
import type { Actor } from '../platform/audit/audit-log.ts';
import { databaseNow } from '../platform/database/clock.ts';
import type { Query } from '../platform/database/query.ts';
import { countTaken, lockOwnTeam } from '../teams/store.ts';
import type { BillingInterval } from '../billing/periods/calendar.ts';
import { endPeriod } from '../billing/period-changes/changes.ts';
import { lastStartedPeriod } from '../billing/periods/period-store.ts';
import type { Plan } from '../billing/plans/store.ts';
import { lockPlanForShare } from '../billing/plans/store.ts';
import {
  addOnUnder,
  cancelSubscription,
  changePlan,
  createSubscription,
  planTeamSlots,
  resumeSubscription,
  setTeamSlots,
} from '../billing/subscriptions/changes.ts';
import type { Effect } from '../billing/subscriptions/changes.ts';
import { markFree } from '../billing/subscriptions/store.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';
import { findOwnPeriod } from './own-period.ts';
import { lockOwnSubscription, lockPublicPlan, requirePayer } from './locks.ts';
import { findPrice } from './paid-plans.ts';
import type { PaidPlans } from './paid-plans.ts';
import { findCharger } from './store.ts';
import { refuseFewerIncluded, slotTerms } from './slot-terms.ts';
import { isUpgrade } from './upgrade.ts';

/**
 * What account holders change themselves, by the operators' functions (docs/design/billing.md). `query` is a
 * transaction's. Lock order: team, account, subscription, plan, periods.
 */

export type Customer = { account_id: number; actor: Actor };

type Wanted = {
  plan_id: number;
  billing_interval: BillingInterval;
  /** The current period that the customer was shown; null without one. */
  period_id: number | null;
};

/**
 * Begins now, and ends a period of the sign-up plan. Other manual periods were sold by an operator and stay. With
 * payments, only a free plan begins without the payment page.
 * @throws {Problem} forbidden, plan_not_offered, subscription_exists, subscription_changed, periods_overlap,
 * account_blocked
 */
export async function subscribe(
  query: Query,
  { account_id, actor }: Customer,
  wanted: Wanted,
  paidPlans: PaidPlans | null,
): Promise<void> {
  await lockAccount(query, account_id);
  await requirePayer(query, account_id);
  const { plan_id, billing_interval } = wanted;
  await lockPublicPlan(query, plan_id, billing_interval, { isPriced: paidPlans !== null });
  const price = findPrice((await paidPlans?.prices(query)) ?? [], wanted);
  if (paidPlans !== null && price?.unit_amount !== 0) {
    throw new Problem('plan_not_offered', { detail: ON_THE_PAGE });
  }
  const replacedAt = await databaseNow(query);
  const current = await findOwnPeriod(query, account_id, replacedAt);
  // A new period would lift the block.
  if (current !== undefined && current.blocked_at !== null) throw new Problem('account_blocked');
  if (current?.is_current === true && current.is_sign_up && current.subscription_id === null) {
    if (current.period_id !== wanted.period_id) throw new Problem('subscription_changed');
    await endPeriod(query, current.period_id, actor);
  }
  const sold = { account_id, plan_id, billing_interval, team_slots_limit: null, replacedAt };
  const { subscription_id } = await createSubscription(query, sold, actor);
  if (paidPlans !== null) await markFree(query, subscription_id);
}

const ON_THE_PAGE = 'The plan is paid on a payment page: POST /api/console/subscription/checkout.';

/**
 * Immediately only for an upgrade (upgrade.ts). The present plan and interval revoke a planned change. A free plan
 * follows one that Stripe charges, which is cancelled at the period's end.
 * @throws {Problem} not_found, forbidden, subscription_ended, subscription_changed, plan_not_offered,
 * plan_change_not_immediate
 */
export async function changeOwnPlan(
  query: Query,
  { account_id, actor }: Customer,
  wanted: Wanted & { effective: Effect },
  paidPlans: PaidPlans | null,
): Promise<void> {
  const { subscription, now } = await lockOwnSubscription(query, account_id);
  await requirePayer(query, account_id);
  const { plan_id, billing_interval, effective } = wanted;
  const last = await lastStartedPeriod(query, subscription.subscription_id, now);
  // A renewal, or a change in another tab, would make the change mean something that the customer wasn't told.
  if (last === undefined || last.period_id !== wanted.period_id) throw new Problem('subscription_changed');
  const isSame = plan_id === subscription.plan_id && billing_interval === subscription.billing_interval;
  const charger = paidPlans === null ? 'operator' : await findCharger(query, subscription.subscription_id);
  if (charger === 'none' && !isSame) {
    throw new Problem('plan_not_offered', {
      detail: 'Subscribe on the payment page to leave the free plan.',
    });
  }
  const paid = charger === 'stripe' ? paidPlans : null;
  // Also to the present plan: a renewal opened ahead, or an edit of the plan, can make it more than the period has.
  if (charger !== 'operator' && effective === 'now') {
    throw new Problem('plan_change_not_immediate', { detail: PAID_FIRST });
  }
  if (paid !== null && findPrice(await paid.prices(query), wanted)?.unit_amount === 0) {
    await lockPublicPlan(query, plan_id, billing_interval, { isPriced: true });
    await cancelSubscription(query, subscription.subscription_id, 'period_end', actor, plan_id);
    return;
  }
  if (!isSame && paid !== null) await requirePaid(query, paid, subscription, wanted);
  if (!isSame) {
    const plan = await lockPublicPlan(query, plan_id, billing_interval, { isPriced: paid !== null });
    refuseExcessSlots(plan, subscription);
    if (paid !== null) await requireSoldSlots(query, paid, subscription, { ...plan, billing_interval });
  }
  if (effective === 'now') {
    const plan = await lockPlanForShare(query, plan_id);
    if (plan === undefined || !isUpgrade(last, plan)) throw new Problem('plan_change_not_immediate');
  }
  const { subscription_id } = subscription;
  // Another interval begins a period of its own.
  const keeps = effective === 'now' && billing_interval === subscription.billing_interval;
  const usage = keeps ? ('keep' as const) : undefined;
  const change = { plan_id, billing_interval, effective, usage };
  const changed = await changePlan(query, subscription_id, change, actor);
  await paid?.keepPrice(query, changed);
}

/**
 * What Stripe charges can change at the period's end, to a plan with a price in the same currency: the next invoice has
 * it. @throws {Problem} plan_not_offered
 */
async function requirePaid(
  query: Query,
  paidPlans: PaidPlans,
  { subscription_id }: Subscription,
  wanted: Wanted,
): Promise<void> {
  const price = findPrice(await paidPlans.prices(query), wanted);
  if (price === undefined) throw new Problem('plan_not_offered');
  if (price.currency === (await paidPlans.currency(query, subscription_id))) return;
  throw new Problem('plan_not_offered', { detail: OTHER_CURRENCY });
}

/** Slots that are charged go on with a plan that sells slots only. @throws {Problem} plan_not_offered */
async function requireSoldSlots(
  query: Query,
  paidPlans: PaidPlans,
  { subscription_id, team_slots_limit }: Subscription,
  plan: Plan & { billing_interval: BillingInterval },
): Promise<void> {
  if (addOnUnder(plan, team_slots_limit) === null) return;
  if ((await paidPlans.chargedSlots(query, subscription_id)) === 0) return;
  const last = await lastStartedPeriod(query, subscription_id, await databaseNow(query));
  if (last !== undefined) refuseFewerIncluded(last, plan);
  const price = findPrice(await paidPlans.slotPrices(query), plan);
  // Stripe charges a subscription in one currency.
  if (price !== undefined && price.currency === (await paidPlans.currency(query, subscription_id))) return;
  throw new Problem('plan_not_offered', {
    detail: 'The plan sells no additional team slots. Release yours first.',
  });
}

const OTHER_CURRENCY =
  'The plan is sold in another currency. Cancel yours, and subscribe to the plan when it has ended.';

const PAID_FIRST =
  'An upgrade of a plan that is paid online is charged first: POST /api/console/subscription/upgrade.';

/** At the end of the period. Members can cancel what they bought before they joined. @throws {Problem} not_found, subscription_ended */
export async function cancelOwn(query: Query, { account_id, actor }: Customer): Promise<void> {
  const { subscription } = await lockOwnSubscription(query, account_id);
  // A repeated request isn't another cancellation.
  if (subscription.cancel_at_period_end) return;
  await cancelSubscription(query, subscription.subscription_id, 'period_end', actor);
}

/** @throws {Problem} not_found, subscription_ended */
export async function resumeOwn(query: Query, { account_id, actor }: Customer): Promise<void> {
  const { subscription } = await lockOwnSubscription(query, account_id);
  if (!subscription.cancel_at_period_end) return;
  await resumeSubscription(query, subscription.subscription_id, actor);
}

/**
 * Buys or releases team slots, for the current and all later periods. Of slots that Stripe charges, it releases those
 * that it charges, at the end of the period; the present number revokes that. `team_slots_limit` is all of them, those of
 * the plan included.
 * @throws {Problem} not_found, forbidden, subscription_ended, plan_not_offered, invalid_request, payments_unavailable
 */
export async function setOwnTeamSlots(
  query: Query,
  { account_id, actor }: Customer,
  team_slots_limit: number,
  paidPlans: PaidPlans | null,
): Promise<void> {
  // Invitations take slots under the same lock.
  const team = await lockOwnTeam(query, account_id);
  const { subscription, now } = await lockOwnSubscription(query, account_id);
  await requirePayer(query, account_id);
  const { subscription_id } = subscription;
  const last = await lastStartedPeriod(query, subscription_id, now);
  const plan = await lockPlanForShare(query, subscription.plan_id);
  const { included, present, most } = slotTerms(subscription, last, plan);
  if (most === null && team_slots_limit > present) {
    throw new Problem('plan_not_offered', { detail: 'The plan offers no additional team slots.' });
  }
  const charger = paidPlans === null ? 'operator' : await findCharger(query, subscription_id);
  if (charger !== 'operator' && team_slots_limit > present) {
    throw new Problem('plan_not_offered', {
      detail:
        charger === 'stripe'
          ? 'Team slots are charged first: POST /api/console/subscription/team-slots.'
          : 'Subscribe on the payment page to buy team slots.',
    });
  }
  const paid = charger === 'stripe' ? paidPlans : null;
  const charged = paid === null ? 0 : await paid.chargedSlots(query, subscription_id);
  const taken = team === undefined ? { members: 1, pending: 0 } : await countTaken(query, team.team.team_id);
  // The plan's own slots can't be released, nor those of members and pending invitations.
  const least = Math.max(included, taken.members + taken.pending, paid === null ? 0 : present - charged);
  const highest = Math.max(most ?? 0, present);
  if (team_slots_limit < least && team_slots_limit !== present) {
    throw slotsProblem(`must be at least ${String(least)}`);
  }
  if (team_slots_limit > highest) throw slotsProblem(`must be at most ${String(highest)}`);
  if (paid === null) {
    const addOn = team_slots_limit === included ? null : team_slots_limit;
    await setTeamSlots(query, subscription_id, addOn, actor);
    return;
  }
  const planned = team_slots_limit === present ? null : team_slots_limit;
  if (planned === subscription.pending_team_slots_limit) return;
  await paid.keepSlots(query, subscription_id, charged - (present - team_slots_limit));
  await planTeamSlots(query, subscription_id, planned, actor);
}

function slotsProblem(message: string): Problem {
  return invalidFields([{ field: 'team_slots_limit', message }]);
}

/** Bought slots must not move to a plan that offers fewer. @throws {Problem} plan_not_offered */
export function refuseExcessSlots(plan: Plan, { team_slots_limit }: Subscription): void {
  const kept = addOnUnder(plan, team_slots_limit);
  if (kept === null || kept <= (plan.team_slots_max ?? 0)) return;
  throw new Problem('plan_not_offered', {
    detail: 'The plan offers fewer team slots than you have. Release team slots first.',
  });
}
