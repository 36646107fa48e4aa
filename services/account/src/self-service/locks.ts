import { Problem } from '@tollgate/http/problem';
import { lockAccount } from '../identity/accounts/account-store.ts';
import { databaseNow } from '../platform/database/clock.ts';
import type { Query } from '../platform/database/query.ts';
import { findMembership } from '../teams/store.ts';
import type { BillingInterval } from '../billing/periods/calendar.ts';
import { lockPlanForShare } from '../billing/plans/store.ts';
import type { Plan } from '../billing/plans/store.ts';
import { lockLiveSubscription } from '../billing/subscriptions/store.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';

/** The payer pays for a member's calls, so a member has nothing to buy. @throws {Problem} forbidden */
export async function requirePayer(query: Query, accountId: number): Promise<void> {
  const membership = await findMembership(query, accountId);
  if (membership?.role !== 'member') return;
  throw new Problem('forbidden', { detail: 'The manager of your team pays for your calls.' });
}

/** Locks the account, then its subscription. @throws {Problem} not_found */
export async function lockOwnSubscription(
  query: Query,
  accountId: number,
): Promise<{ subscription: Subscription; now: Date }> {
  await lockAccount(query, accountId);
  const subscription = await lockLiveSubscription(query, accountId);
  if (subscription === undefined) {
    throw new Problem('not_found', { detail: 'The account has no subscription.' });
  }
  return { subscription, now: await databaseNow(query) };
}

/** With payments, callers have checked the price. The response doesn't tell whether a private plan exists. @throws {Problem} plan_not_offered */
export async function lockPublicPlan(
  query: Query,
  planId: number,
  interval: BillingInterval,
  { isPriced: isPricedAtStripe = false } = {},
): Promise<Plan> {
  const plan = await lockPlanForShare(query, planId);
  const isPriced = isPricedAtStripe || (plan !== undefined && priceText(plan, interval) !== null);
  if (plan === undefined || plan.public_position === null || plan.archived_at !== null || !isPriced) {
    throw new Problem('plan_not_offered');
  }
  return plan;
}

function priceText({ price_month, price_year }: Plan, interval: BillingInterval): string | null {
  return interval === 'month' ? price_month : price_year;
}
