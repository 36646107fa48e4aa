import { Problem } from '@tollgate/http/problem';
import type { BillingInterval } from '../periods/calendar.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';

export type Subscription = {
  subscription_id: number;
  account_id: number;
  plan_id: number;
  billing_interval: BillingInterval;
  /** All periods are counted from this second. */
  anchor: Date;
  team_slots_limit: number | null;
  /** The planned change; both null without one. */
  pending_plan_id: number | null;
  pending_interval: BillingInterval | null;
  /** The planned release of slots: all that are left; null without one. */
  pending_team_slots_limit: number | null;
  cancel_at_period_end: boolean;
  /** Of one that is cancelled: the free plan that starts when it has ended, until that is done. */
  following_plan_id: number | null;
  renews_at: Date;
  ended_at: Date | null;
  created_at: Date;
};

/** Of a Subscription. */
export const COLUMNS = `subscription_id, account_id, plan_id, billing_interval, anchor, team_slots_limit,
  pending_plan_id, pending_interval, pending_team_slots_limit, cancel_at_period_end, following_plan_id,
  renews_at, ended_at, created_at`;

export async function insertSubscription(
  query: Query,
  made: Pick<
    Subscription,
    'account_id' | 'plan_id' | 'billing_interval' | 'anchor' | 'team_slots_limit' | 'renews_at'
  >,
): Promise<Subscription> {
  const rows = await query<Subscription>(
    `INSERT INTO subscriptions (account_id, plan_id, billing_interval, anchor, team_slots_limit, renews_at)
     VALUES (:account_id, :plan_id, :billing_interval, :anchor, :team_slots_limit, :renews_at)
     RETURNING ${COLUMNS}`,
    made,
  );
  return singleRow(rows);
}

/** Stores what can change, and retries a failed renewal at once. */
export async function storeSubscription(query: Query, changed: Subscription): Promise<void> {
  await query(
    `UPDATE subscriptions SET plan_id = :plan_id, billing_interval = :billing_interval, anchor = :anchor,
       team_slots_limit = :team_slots_limit, pending_plan_id = :pending_plan_id,
       pending_interval = :pending_interval, pending_team_slots_limit = :pending_team_slots_limit,
       cancel_at_period_end = :cancel_at_period_end, following_plan_id = :following_plan_id,
       renews_at = :renews_at, ended_at = :ended_at, next_attempt_at = now()
     WHERE subscription_id = :subscription_id`,
    changed,
  );
}

/** It was chosen for nothing, and goes on so until its plan is changed. */
export async function markFree(query: Query, subscriptionId: number): Promise<void> {
  await query('UPDATE subscriptions SET free_plan_id = plan_id WHERE subscription_id = :subscriptionId', {
    subscriptionId,
  });
}

export async function findSubscription(query: Query, id: number): Promise<Subscription | undefined> {
  const rows = await query<Subscription>(`SELECT ${COLUMNS} FROM subscriptions WHERE subscription_id = :id`, {
    id,
  });
  return rows[0];
}

/** Serializes changes, blocks and renewals of a subscription. */
export async function lockSubscription(query: Query, id: number): Promise<Subscription> {
  const rows = await query<Subscription>(
    `SELECT ${COLUMNS} FROM subscriptions WHERE subscription_id = :id FOR UPDATE`,
    { id },
  );
  const [found] = rows;
  if (found === undefined) throw new Problem('not_found');
  return found;
}

/** Reliable only under the account's lock. */
export async function lockLiveSubscription(
  query: Query,
  accountId: number,
): Promise<Subscription | undefined> {
  const rows = await query<Subscription>(
    `SELECT ${COLUMNS} FROM subscriptions WHERE account_id = :accountId AND ended_at IS NULL FOR UPDATE`,
    { accountId },
  );
  return rows[0];
}

export function listSubscriptions(
  query: Query,
  {
    account_id,
    plan_id,
    status,
  }: {
    account_id?: number | undefined;
    plan_id?: number | undefined;
    status?: 'active' | 'ended' | undefined;
  },
  { limit, before }: Page,
): Promise<Subscription[]> {
  const wanted = [
    ...(account_id === undefined ? [] : ['account_id = :account_id']),
    ...(plan_id === undefined ? [] : ['plan_id = :plan_id']),
    ...(status === undefined ? [] : [`ended_at IS ${status === 'ended' ? 'NOT ' : ''}NULL`]),
  ];
  return query<Subscription>(
    `SELECT ${COLUMNS} FROM subscriptions
     WHERE ${['subscription_id < :before', ...wanted].join(' AND ')}
     ORDER BY subscription_id DESC LIMIT :limit`,
    { account_id: account_id ?? null, plan_id: plan_id ?? null, limit, before },
  );
}
