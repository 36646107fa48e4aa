import { Problem } from '@tollgate/http/problem';
import type { BillingInterval } from '../../billing/periods/calendar.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

export type CheckoutState = 'open' | 'processing' | 'expired' | 'started' | 'refused';

/** A subscription that is paid through Stripe, from the payment page on. */
export type StripeSubscription = {
  checkout_id: number;
  checkout_key: string;
  account_id: number;
  plan_id: number;
  billing_interval: BillingInterval;
  currency: string;
  /** Without tax and discounts, in Stripe's minor unit. */
  amount: number;
  state: CheckoutState;
  session_id: string | null;
  session_url: string | null;
  stripe_subscription_id: string | null;
  /** Ours; null until it is paid. */
  subscription_id: number | null;
  revision: number;
  next_attempt_at: Date | null;
  /** The price at Stripe that is known here; null until it is read. */
  stripe_price_id: string | null;
  /** Additional team slots that Stripe charges, as far as is known here. */
  slots: number;
  created_at: Date;
};

export type NewCheckout = Pick<
  StripeSubscription,
  'account_id' | 'plan_id' | 'billing_interval' | 'currency' | 'amount'
>;

const COLUMNS = `checkout_id, checkout_key, account_id, plan_id, billing_interval, currency, amount, state,
  session_id, session_url, stripe_subscription_id, subscription_id, revision, next_attempt_at, stripe_price_id,
  slots, created_at`;

/**
 * SQL: whether Stripe knows of every end and change of an account's subscriptions and of every charge, and no top-up is
 * under way, so that it charges nothing more. Further points are charged once their period is closed.
 */
export function isEndKnown(accountId: string): string {
  return `NOT EXISTS (SELECT FROM stripe_subscriptions
    WHERE stripe_subscriptions.account_id = ${accountId} AND next_attempt_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM top_ups
      WHERE top_ups.account_id = ${accountId} AND next_attempt_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM overage_charges
      WHERE overage_charges.account_id = ${accountId} AND next_attempt_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM overage_checks WHERE overage_checks.account_id = ${accountId})
    AND NOT EXISTS (SELECT FROM period_overages JOIN period_closings USING (period_id)
      JOIN billing_periods USING (period_id)
      WHERE period_overages.account_id = ${accountId} AND ended_at <= clock_timestamp())`;
}

const LISTED_MAX = 20;

/** Stripe's ids of subscriptions that it may still charge: those that are live, and ends that it doesn't know of. */
export async function listUnattended(query: Query): Promise<string[]> {
  const rows = await query<{ stripe_subscription_id: string }>(
    `SELECT stripe_subscription_id FROM stripe_subscriptions LEFT JOIN subscriptions USING (subscription_id)
     WHERE stripe_subscription_id IS NOT NULL
       AND (next_attempt_at IS NOT NULL OR state = 'started' AND subscriptions.ended_at IS NULL)
     ORDER BY checkout_id LIMIT :max`,
    { max: LISTED_MAX },
  );
  return rows.map(({ stripe_subscription_id }) => stripe_subscription_id);
}

/** With the key that Stripe's metadata has, if the database has forgotten it. */
export async function insertCheckout(
  query: Query,
  made: NewCheckout & { checkout_key?: string },
): Promise<StripeSubscription> {
  const rows = await query<StripeSubscription>(
    `INSERT INTO stripe_subscriptions (account_id, plan_id, billing_interval, currency, amount, checkout_key)
     VALUES (:account_id, :plan_id, :billing_interval, :currency, :amount,
       coalesce(CAST(:checkout_key AS uuid), gen_random_uuid()))
     RETURNING ${COLUMNS}`,
    { checkout_key: null, ...made },
  );
  return singleRow(rows);
}

/** An open page for the same, also one that isn't known yet; how long it is offered again is as for purchases. */
export async function findReusable(
  query: Query,
  wanted: NewCheckout,
): Promise<StripeSubscription | undefined> {
  const rows = await query<StripeSubscription>(
    `SELECT ${COLUMNS} FROM stripe_subscriptions
     WHERE account_id = :account_id AND plan_id = :plan_id AND billing_interval = :billing_interval
       AND currency = :currency AND amount = :amount AND state = 'open'
       AND created_at > now() - interval '30 minutes'
     ORDER BY checkout_id DESC LIMIT 1`,
    wanted,
  );
  return rows[0];
}

/** What has started or was refused stays so, and a payment under way isn't an open page again. */
export async function setPageState(
  query: Query,
  checkoutId: number,
  state: 'open' | 'processing' | 'expired',
): Promise<void> {
  await query(
    `UPDATE stripe_subscriptions SET state = :state
     WHERE checkout_id = :checkoutId AND state IN ('open', 'processing', 'expired')
       AND NOT (state <> 'open' AND CAST(:state AS text) = 'open')`,
    { checkoutId, state },
  );
}

export async function setStripeId(query: Query, checkoutId: number, id: string): Promise<void> {
  await query(
    `UPDATE stripe_subscriptions SET stripe_subscription_id = :id
     WHERE checkout_id = :checkoutId AND state NOT IN ('started', 'refused')`,
    { checkoutId, id },
  );
}

export async function setStarted(query: Query, checkoutId: number, subscriptionId: number): Promise<void> {
  await query(
    `UPDATE stripe_subscriptions SET state = 'started', subscription_id = :subscriptionId, started_at = now()
     WHERE checkout_id = :checkoutId`,
    { checkoutId, subscriptionId },
  );
}

/** Another price there is then a change that was made there. */
export async function setKnownPrice(query: Query, checkoutId: number, priceId: string): Promise<void> {
  await query('UPDATE stripe_subscriptions SET stripe_price_id = :priceId WHERE checkout_id = :checkoutId', {
    checkoutId,
    priceId,
  });
}

/** As `setKnownPrice`. */
export async function setKnownSlots(query: Query, checkoutId: number, slots: number): Promise<void> {
  await query('UPDATE stripe_subscriptions SET slots = :slots WHERE checkout_id = :checkoutId', {
    checkoutId,
    slots,
  });
}

/** By an invoice that is no renewal's. */
export async function setPaidUntil(query: Query, checkoutId: number, until: Date): Promise<void> {
  await query('UPDATE stripe_subscriptions SET paid_until = :until WHERE checkout_id = :checkoutId', {
    checkoutId,
    until,
  });
}

/** A live subscription, as it is known to be at Stripe. */
export type KnownSubscription = Pick<StripeSubscription, 'stripe_price_id' | 'slots' | 'next_attempt_at'> &
  Pick<Subscription, 'cancel_at_period_end' | 'anchor' | 'billing_interval'> & {
    stripe_subscription_id: string;
  };

export function listKnownSubscriptions(query: Query): Promise<KnownSubscription[]> {
  return query<KnownSubscription>(
    `SELECT stripe_subscription_id, stripe_price_id, slots, charged.next_attempt_at, cancel_at_period_end, anchor,
       subscriptions.billing_interval
     FROM stripe_subscriptions AS charged JOIN subscriptions USING (subscription_id)
     WHERE state = 'started' AND subscriptions.ended_at IS NULL ORDER BY checkout_id`,
  );
}

/**
 * How many slots Stripe charges; 0 for a subscription that it doesn't charge.
 * @throws {Problem} payments_unavailable, while it doesn't know of a release
 */
export async function findChargedSlots(query: Query, subscriptionId: number): Promise<number> {
  const rows = await query<{ slots: number; slots_changed: boolean }>(
    'SELECT slots, slots_changed FROM stripe_subscriptions WHERE subscription_id = :subscriptionId',
    { subscriptionId },
  );
  if (rows[0]?.slots_changed === true) throw new Problem('payments_unavailable');
  return rows[0]?.slots ?? 0;
}

/** How many slots Stripe is to charge once the planned release takes effect. */
export async function setPendingSlots(query: Query, subscriptionId: number, slots: number): Promise<void> {
  await query(
    'UPDATE stripe_subscriptions SET pending_slots = :slots WHERE subscription_id = :subscriptionId',
    { subscriptionId, slots },
  );
}

/** The present price of a planned change is kept for it; without a change, none is. */
export async function keepPlannedPrice(
  query: Query,
  { subscription_id, pending_plan_id, pending_interval }: Subscription,
): Promise<void> {
  await query(
    `UPDATE stripe_subscriptions SET pending_plan_price_id = (
       SELECT plan_price_id FROM plan_prices
       WHERE plan_id = :pending_plan_id AND billing_interval = :pending_interval AND withdrawn_at IS NULL)
     WHERE subscription_id = :subscription_id`,
    { subscription_id, pending_plan_id, pending_interval },
  );
}

/** The outbox then ends and refunds it. */
export async function setRefused(query: Query, checkoutId: number): Promise<void> {
  await query(
    `UPDATE stripe_subscriptions SET state = 'refused', revision = revision + 1, next_attempt_at = now()
     WHERE checkout_id = :checkoutId AND state <> 'started'`,
    { checkoutId },
  );
}

export async function findByKey(query: Query, key: string): Promise<StripeSubscription | undefined> {
  const rows = await query<StripeSubscription>(
    `SELECT ${COLUMNS} FROM stripe_subscriptions WHERE checkout_key = CAST(:key AS uuid)`,
    { key },
  );
  return rows[0];
}

export async function findByStripeId(query: Query, id: string): Promise<StripeSubscription | undefined> {
  const rows = await query<StripeSubscription>(
    `SELECT ${COLUMNS} FROM stripe_subscriptions WHERE stripe_subscription_id = :id`,
    { id },
  );
  return rows[0];
}

/** Whether it had ended here by then, also if its planned end is due and is only to be carried out. */
export async function wasEndedBefore(query: Query, stripeId: string, at: Date): Promise<boolean> {
  const rows = await query(
    `SELECT FROM stripe_subscriptions JOIN subscriptions USING (subscription_id)
     WHERE stripe_subscription_id = :stripeId AND (subscriptions.ended_at <= :at
       OR cancel_at_period_end AND subscriptions.ended_at IS NULL AND renews_at <= least(:at, clock_timestamp()))`,
    { stripeId, at },
  );
  return rows.length > 0;
}

export async function findBySubscription(
  query: Query,
  subscriptionId: number,
): Promise<StripeSubscription | undefined> {
  const rows = await query<StripeSubscription>(
    `SELECT ${COLUMNS} FROM stripe_subscriptions WHERE subscription_id = :subscriptionId`,
    { subscriptionId },
  );
  return rows[0];
}

export async function findOwnCheckout(
  query: Query,
  accountId: number,
  checkoutId: number,
): Promise<StripeSubscription | undefined> {
  const rows = await query<StripeSubscription>(
    `SELECT ${COLUMNS} FROM stripe_subscriptions WHERE checkout_id = :checkoutId AND account_id = :accountId`,
    { checkoutId, accountId },
  );
  return rows[0];
}
