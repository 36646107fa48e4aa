import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import type { BillingInterval } from '../../billing/periods/calendar.ts';
import { lastStartedPeriod } from '../../billing/periods/period-store.ts';
import type { Period } from '../../billing/periods/period-store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { refuseExcessSlots } from '../../self-service/changes.ts';
import { lockOwnSubscription, lockPublicPlan, requirePayer } from '../../self-service/locks.ts';
import { isPaidUpgrade } from '../../self-service/upgrade.ts';
import { withinDeadline } from '../deadline.ts';
import { stripePriceOf } from '../prices/stripe-price.ts';
import { findPrice } from '../prices/store.ts';
import type { PlanPrice } from '../prices/store.ts';
import type { Buyer } from '../purchases/begin.ts';
import type { PriceChange, ProvidedSubscription } from '../subscription-provider.ts';
import { applyProvided } from './apply.ts';
import { findBySubscription } from './store.ts';
import type { StripeSubscription } from './store.ts';

/** An upgrade of a plan that Stripe charges (docs/design/payments.md). */

type WantedUpgrade = { account_id: number; plan_id: number; billing_interval: BillingInterval };

/** What the customer was shown. `amount`: with tax, in the minor unit. */
type Confirmed = WantedUpgrade & { period_id: number; amount: number };

export type PricedUpgrade = { period_id: number; amount: number; currency: string };

/** `payment_required`: the plan changes once the invoice is paid on its page. */
export type UpgradeOutcome = { state: 'paid' | 'payment_required'; payment_url: string | null };

type Checked = {
  row: StripeSubscription & { stripe_subscription_id: string };
  price: PlanPrice;
  period: Period;
};

/**
 * What an upgrade would cost now, by Stripe's own computation.
 * @throws {Problem} as upgradePlan
 */
export async function previewUpgrade(buyer: Buyer, wanted: WantedUpgrade): Promise<PricedUpgrade> {
  const { row, price, period } = await buyer.transact((query) => requireUpgradable(query, wanted));
  return withinDeadline(
    (async () => {
      const priced = await buyer.provider.previewChange(
        row.stripe_subscription_id,
        await changeTo(buyer, price),
      );
      return { period_id: period.period_id, amount: priced.amount_due, currency: priced.currency };
    })(),
  );
}

/**
 * Charges the difference that the customer has confirmed. The plan changes once it is paid: here, or by the events, if
 * this process ends in between. Repeating it charges once.
 * @throws {Problem} not_found, forbidden, plan_not_offered, plan_change_not_immediate, subscription_changed,
 * amount_changed, payments_unavailable
 */
export async function upgradePlan(
  buyer: Buyer & { logger: Pick<Logger, 'error'> },
  wanted: Confirmed,
  by: Actor,
): Promise<UpgradeOutcome> {
  const checked = await buyer.transact((query) => requireUpgradable(query, wanted));
  return withinDeadline(charge(buyer, wanted, checked, by));
}

async function charge(
  buyer: Buyer & { logger: Pick<Logger, 'error'> },
  { account_id, plan_id, billing_interval, amount }: Confirmed,
  { row, price }: Checked,
  by: Actor,
): Promise<UpgradeOutcome> {
  const { provider, transact } = buyer;
  const { stripe_subscription_id: id, revision } = row;
  const change = await changeTo(buyer, price);
  const before = await provider.readSubscription(id);
  if (before === undefined || before.isEnded) throw new Problem('subscription_changed');
  if (!isUnderWay(before, change)) {
    const { amount_due, currency } = await provider.previewChange(id, change);
    if (amount_due !== amount) throw new Problem('amount_changed');
    const details = { plan_id, billing_interval, amount, currency };
    await transact((query) =>
      recordAudit(query, {
        ...by,
        action: 'subscription_upgrade_begun',
        application_id: null,
        account_id,
        details,
      }),
    );
    await provider.changeNow(id, change, keyOf(id, revision, change));
  }
  const after = await provider.readSubscription(id);
  if (after === undefined) throw new Problem('payments_unavailable');
  if (after.unpaid_change !== null) {
    return { state: 'payment_required', payment_url: after.unpaid_change.payment_url };
  }
  // If this fails, the event brings it.
  await transact((query) => applyProvided(query, buyer, after, revision)).catch(() => undefined);
  return { state: 'paid', payment_url: null };
}

/** A click before has paid it, or waits for its payment. */
function isUnderWay({ price_id, unpaid_change }: ProvidedSubscription, change: PriceChange): boolean {
  return price_id === change.price_id || unpaid_change?.price_id === change.price_id;
}

/** The same for all clicks of an hour, until the subscription changes. */
function keyOf(id: string, revision: number, { price_id, prorated_at }: PriceChange): string {
  return `upgrade:${id}:${String(revision)}:${price_id}:${prorated_at.toISOString()}`;
}

const HOUR_MS = 3_600_000;

/** From the hour that has begun on, so that the amount that was shown is the one that is charged. */
async function changeTo({ query, provider }: Buyer, price: PlanPrice): Promise<PriceChange> {
  const nowMs = Date.now();
  return {
    price_id: await stripePriceOf(query, provider, price),
    prorated_at: new Date(nowMs - (nowMs % HOUR_MS)),
  };
}

async function requireUpgradable(
  query: Query,
  { account_id, plan_id, billing_interval, period_id }: WantedUpgrade & { period_id?: number },
): Promise<Checked> {
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
  const price = await findPrice(query, plan_id, billing_interval);
  // Stripe charges a subscription in one currency.
  if (price?.currency !== row.currency) throw new Problem('plan_not_offered');
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
  // A change made before is still on its way to Stripe, and would take this one's place there.
  if (row.next_attempt_at !== null) throw new Problem('payments_unavailable');
  return { row: { ...row, stripe_subscription_id: id }, price, period };
}
