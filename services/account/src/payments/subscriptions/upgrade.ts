import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import type { BillingInterval } from '../../billing/periods/calendar.ts';
import { lastStartedPeriod } from '../../billing/periods/period-store.ts';
import type { Period } from '../../billing/periods/period-store.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { refuseExcessSlots } from '../../self-service/changes.ts';
import { lockOwnSubscription, lockPublicPlan, requirePayer } from '../../self-service/locks.ts';
import { refuseFewerIncluded } from '../../self-service/slot-terms.ts';
import { isPaidUpgrade } from '../../self-service/upgrade.ts';
import { stripePriceOf, stripeSlotPriceOf } from '../prices/stripe-price.ts';
import { isFree, planPrices, slotPrices } from '../prices/store.ts';
import type { PlanPrice, SlotPrice, Sold } from '../prices/store.ts';
import type { Buyer } from '../purchases/begin.ts';
import type { ItemsChange } from '../subscription-provider.ts';
import { slotsUnder } from './slots-under.ts';
import { chargeChange, priceOfChange } from './charge-change.ts';
import type { ChargeOutcome, ChargedSubscription } from './charge-change.ts';
import { findBySubscription } from './store.ts';

/** An upgrade of a plan that Stripe charges (docs/design/payments.md). */

type WantedUpgrade = { account_id: number; plan_id: number; billing_interval: BillingInterval };

/** What the customer was shown. `amount`: with tax, in the minor unit. */
type Confirmed = WantedUpgrade & { period_id: number; amount: number };

export type PricedChange = { period_id: number; amount: number; currency: string };

type Checked = {
  row: ChargedSubscription;
  price: PlanPrice;
  /** Undefined if the customer has bought none. */
  slots: { price: SlotPrice; quantity: number } | null | undefined;
  period: Period;
};

/**
 * What an upgrade would cost now, by Stripe's own computation.
 * @throws {Problem} as upgradePlan
 */
export async function previewUpgrade(buyer: Buyer, wanted: WantedUpgrade): Promise<PricedChange> {
  const checked = await buyer.transact((query) => requireUpgradable(query, wanted));
  const { row, period } = checked;
  const priced = await priceOfChange(buyer, row, () => changeTo(buyer, checked));
  return { period_id: period.period_id, ...priced };
}

/**
 * Charges the difference that the customer has confirmed.
 * @throws {Problem} not_found, forbidden, plan_not_offered, plan_change_not_immediate, subscription_changed,
 * amount_changed, payments_unavailable
 */
export async function upgradePlan(
  buyer: Buyer & { logger: Pick<Logger, 'error'> },
  wanted: Confirmed,
  by: Actor,
): Promise<ChargeOutcome> {
  const checked = await buyer.transact((query) => requireUpgradable(query, wanted));
  const { account_id, plan_id, billing_interval, amount } = wanted;
  const details = { plan_id, billing_interval };
  const entry = {
    ...by,
    action: 'subscription_upgrade_begun',
    application_id: null,
    account_id,
    details,
  } as const;
  const change = () => changeTo(buyer, checked);
  return chargeChange(buyer, { row: checked.row, change, amount }, entry);
}

/** Stripe wants one interval of all items: slots follow the plan. */
async function changeTo({ query, provider }: Buyer, { price, slots }: Checked): Promise<ItemsChange> {
  const price_id = await stripePriceOf(query, provider, price);
  if (slots === undefined) return { price_id };
  if (slots === null) return { price_id, slots };
  const { quantity } = slots;
  return { price_id, slots: { price_id: await stripeSlotPriceOf(query, provider, slots.price), quantity } };
}

async function requireUpgradable(
  query: Query,
  { account_id, plan_id, billing_interval, period_id }: WantedUpgrade & { period_id?: number },
): Promise<Checked> {
  const { row, subscription, period } = await requireChangeable(query, account_id, period_id);
  const price = await planPrices.find(query, { plan_id, billing_interval });
  // Stripe charges a subscription in one currency.
  if (price?.currency !== row.currency || isFree(price)) throw new Problem('plan_not_offered');
  const plan = await lockPublicPlan(query, plan_id, billing_interval, { isPriced: true });
  refuseExcessSlots(plan, subscription);
  if (
    !isPaidUpgrade(
      { ...period, billing_interval: subscription.billing_interval },
      { ...plan, billing_interval },
    )
  ) {
    throw new Problem('plan_change_not_immediate');
  }
  if (row.slots > 0) refuseFewerIncluded(period, plan);
  const quantity = slotsUnder(plan, subscription.team_slots_limit, row.slots);
  const slots =
    row.slots === 0
      ? undefined
      : quantity === 0
        ? null
        : { quantity, price: await requireSlotPrice(query, { plan_id, billing_interval }, row.currency) };
  return { row, price, slots, period };
}

/** @throws {Problem} plan_not_offered */
async function requireSlotPrice(query: Query, sold: Sold, currency: string): Promise<SlotPrice> {
  const price = await slotPrices.find(query, sold);
  if (price?.currency === currency) return price;
  throw new Problem('plan_not_offered', {
    detail: 'The plan sells no additional team slots. Release yours first.',
  });
}

/**
 * What can be changed and charged now. `period_id`: the current period that the customer was shown.
 * @throws {Problem} not_found, forbidden, plan_change_not_immediate, subscription_changed, payments_unavailable
 */
export async function requireChangeable(
  query: Query,
  account_id: number,
  period_id: number | undefined,
): Promise<{ row: ChargedSubscription; subscription: Subscription; period: Period }> {
  const { subscription, now } = await lockOwnSubscription(query, account_id);
  await requirePayer(query, account_id);
  const { subscription_id } = subscription;
  const row = await findBySubscription(query, subscription_id);
  const id = row?.stripe_subscription_id ?? null;
  if (row === undefined || id === null) throw new Problem('plan_change_not_immediate');
  if (subscription.cancel_at_period_end) {
    throw new Problem('plan_change_not_immediate', { detail: 'Resume your plan before you change it.' });
  }
  const period = await lastStartedPeriod(query, subscription_id, now);
  if (period === undefined || period.ended_at < now) throw new Problem('plan_change_not_immediate');
  if (period_id !== undefined && period.period_id !== period_id) throw new Problem('subscription_changed');
  // A change made before is still on its way to Stripe, and would take this one's place there.
  if (row.next_attempt_at !== null) throw new Problem('payments_unavailable');
  return { row: { ...row, stripe_subscription_id: id }, subscription, period };
}
