import { singleRow } from '../platform/database/single-row.ts';
import type { Query } from '../platform/database/query.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';

/** With the names of its plans. */
export type NamedSubscription = Subscription & {
  plan_name: string;
  pending_plan_name: string | null;
  following_plan_name: string | null;
};

export async function findLiveSubscription(
  query: Query,
  accountId: number,
): Promise<NamedSubscription | undefined> {
  const rows = await query<NamedSubscription>(
    `SELECT subscriptions.*, plans.name AS plan_name, pending.name AS pending_plan_name,
            following.name AS following_plan_name
     FROM subscriptions JOIN plans USING (plan_id)
     LEFT JOIN plans AS pending ON pending.plan_id = pending_plan_id
     LEFT JOIN plans AS following ON following.plan_id = following_plan_id
     WHERE account_id = :accountId AND ended_at IS NULL
       AND NOT (cancel_at_period_end AND renews_at <= clock_timestamp())`,
    { accountId },
  );
  return rows[0];
}

/** When the next period starts: one opened ahead counts as not opened, because a change withdraws it. */
export async function findNextStart(
  query: Query,
  { subscription_id, renews_at }: Pick<Subscription, 'subscription_id' | 'renews_at'>,
  now: Date,
): Promise<Date> {
  const rows = await query<{ started_at: Date }>(
    `SELECT started_at FROM billing_periods
     WHERE subscription_id = :subscription_id AND started_at > :now ORDER BY started_at LIMIT 1`,
    { subscription_id, now },
  );
  return rows[0]?.started_at ?? renews_at;
}

/**
 * Who charges for a subscription: `stripe`; `none`, for a free plan that an account got at sign-up or chose; or
 * `operator`, by invoices of their own. A plan that an operator has changed since is theirs.
 */
export async function findCharger(
  query: Query,
  subscriptionId: number,
): Promise<'stripe' | 'none' | 'operator'> {
  const rows = await query<{ is_paid: boolean; is_free: boolean }>(
    `SELECT EXISTS (SELECT FROM stripe_subscriptions WHERE subscription_id = :subscriptionId) AS is_paid,
       EXISTS (SELECT FROM subscriptions
         WHERE subscription_id = :subscriptionId AND (free_plan_id = plan_id OR EXISTS (
           SELECT FROM sign_up_plans JOIN billing_periods USING (period_id)
           WHERE billing_periods.subscription_id = subscriptions.subscription_id
             AND billing_periods.plan_id = subscriptions.plan_id))) AS is_free`,
    { subscriptionId },
  );
  const { is_paid, is_free } = singleRow(rows);
  if (is_paid) return 'stripe';
  return is_free ? 'none' : 'operator';
}

/** Whether the account has ever opened a payment page, so that the provider knows it. */
export async function isPayingCustomer(query: Query, accountId: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM stripe_customers WHERE account_id = :accountId', { accountId });
  return rows.length > 0;
}
