import { Problem } from '@tollgate/http/problem';
import type { BillingInterval } from '../../billing/periods/calendar.ts';
import { lockPlanForShare } from '../../billing/plans/store.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import type { Account } from '../../identity/accounts/account.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { requirePayer } from '../../self-service/locks.ts';
import { customerOf } from '../customers.ts';
import { withinDeadline } from '../deadline.ts';
import { isCharging } from '../overage/store.ts';
import { pagesOf } from '../pages.ts';
import { stripePriceOf } from '../prices/stripe-price.ts';
import { isFree, planPrices } from '../prices/store.ts';
import type { PlanPrice } from '../prices/store.ts';
import type { Buyer } from '../purchases/begin.ts';
import { metadataOf } from './metadata.ts';
import { requireStartable } from './start.ts';
import { findReusable, insertCheckout, setPageState } from './store.ts';
import type { StripeSubscription } from './store.ts';

const PAGES = pagesOf({ table: 'stripe_subscriptions', id: 'checkout_id' });

type Begun = { checkout: StripeSubscription; price: PlanPrice; account: Account };

/**
 * Stores what is sold, then opens a page to pay it. Nothing changes before it is paid. The same plan and interval within
 * half an hour leads to the same page, and the account's other pages are closed.
 * @throws {Problem} forbidden, plan_not_offered, subscription_exists, periods_overlap, account_blocked,
 * too_many_requests, payments_unavailable
 */
export async function beginSubscription(
  buyer: Buyer,
  wanted: { account_id: number; plan_id: number; billing_interval: BillingInterval },
  by: Actor,
): Promise<StripeSubscription> {
  const begun = await buyer.transact((query) => storeCheckout(query, wanted, by));
  if (begun.checkout.session_url !== null) return begun.checkout;
  return withinDeadline(openPage(buyer, begun));
}

async function storeCheckout(
  query: Query,
  {
    account_id,
    plan_id,
    billing_interval,
  }: { account_id: number; plan_id: number; billing_interval: BillingInterval },
  by: Actor,
): Promise<Begun> {
  const account = await lockAccount(query, account_id);
  if (account === undefined) throw new Problem('not_found');
  await requirePayer(query, account_id);
  await requireStartable(query, account_id);
  // What the plan before still owes would be on this one's first invoice.
  if (await isCharging(query, account_id)) throw new Problem('payments_unavailable');
  const price = await lockPrice(query, plan_id, billing_interval);
  const { currency, unit_amount: amount } = price;
  const sold = { account_id, plan_id, billing_interval, currency, amount };
  const open = await findReusable(query, sold);
  if (open !== undefined) return { checkout: open, price, account };
  await PAGES.refuseTooMany(query, account_id);
  const checkout = await insertCheckout(query, sold);
  const details = { checkout_id: checkout.checkout_id, plan_id, billing_interval };
  await recordAudit(query, {
    ...by,
    action: 'subscription_checkout_begun',
    application_id: null,
    account_id,
    details,
  });
  return { checkout, price, account };
}

/** The response doesn't tell whether a private plan exists. @throws {Problem} plan_not_offered */
async function lockPrice(query: Query, planId: number, interval: BillingInterval): Promise<PlanPrice> {
  const plan = await lockPlanForShare(query, planId);
  const price = await planPrices.find(query, { plan_id: planId, billing_interval: interval });
  if (
    plan === undefined ||
    plan.public_position === null ||
    plan.archived_at !== null ||
    price === undefined
  ) {
    throw new Problem('plan_not_offered');
  }
  if (isFree(price)) {
    throw new Problem('plan_not_offered', { detail: 'The plan is free: POST /api/console/subscription.' });
  }
  return price;
}

async function openPage(buyer: Buyer, { checkout, price, account }: Begun): Promise<StripeSubscription> {
  const { query, provider, publicUrl } = buyer;
  const { checkout_id, checkout_key } = checkout;
  const [customer_id, price_id] = await Promise.all([
    customerOf(query, provider, account),
    stripePriceOf(query, provider, price),
  ]);
  const page = await provider.openCheckout({
    key: checkout_key,
    mode: 'subscription',
    customer_id,
    price_id,
    quantity: 1,
    success_url: `${publicUrl}/user/plan?checkout=${String(checkout_id)}`,
    cancel_url: `${publicUrl}/user/plan`,
    metadata: metadataOf(checkout),
  });
  await PAGES.setPage(query, checkout_id, page);
  // One that stays open costs nothing: a second subscription that is paid is cancelled and refunded.
  await PAGES.closeOthers(buyer, { accountId: checkout.account_id, id: checkout_id }, (id) =>
    setPageState(query, id, 'expired'),
  );
  return { ...checkout, session_id: page.session_id, session_url: page.url };
}
