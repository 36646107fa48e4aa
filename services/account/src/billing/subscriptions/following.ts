import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../platform/database/query.ts';
import { createSubscription } from './changes.ts';
import { RENEWAL } from './renew.ts';
import { markFree } from './store.ts';

/** A subscription has ended that a free plan follows. */
export const FOLLOWING_CONDITION = `following_plan_id IS NOT NULL AND subscriptions.ended_at <= clock_timestamp()
  AND next_attempt_at <= clock_timestamp()`;

export type Following = {
  subscription_id: number;
  account_id: number;
  plan_id: number;
  /** The plan is still free and in the catalogue, and the account pays for itself and stays. */
  is_offered: boolean;
};

/** Locks the account, as all that locks both does. Skips those that others are changing. */
export async function takeFollowing(query: Query): Promise<Following | undefined> {
  const rows = await query<Following>(
    `SELECT subscription_id, accounts.account_id, following_plan_id AS plan_id,
            deletion_due_at IS NULL AND archived_at IS NULL AND public_position IS NOT NULL
              AND EXISTS (SELECT FROM plan_prices WHERE plan_prices.plan_id = following_plan_id
                AND billing_interval = 'month' AND unit_amount = 0 AND withdrawn_at IS NULL)
              AND NOT EXISTS (SELECT FROM team_members
                WHERE team_members.account_id = accounts.account_id AND role = 'member') AS is_offered
     FROM subscriptions JOIN accounts USING (account_id) JOIN plans ON plans.plan_id = following_plan_id
     WHERE ${FOLLOWING_CONDITION}
     ORDER BY ended_at LIMIT 1 FOR UPDATE OF accounts SKIP LOCKED`,
  );
  return rows[0];
}

/** Starts the free plan, unless the account has another plan or period by now. */
export async function startFollowing(query: Query, following: Following): Promise<void> {
  const { subscription_id, account_id, plan_id, is_offered } = following;
  await query('UPDATE subscriptions SET following_plan_id = NULL WHERE subscription_id = :subscription_id', {
    subscription_id,
  });
  if (!is_offered) return;
  const wanted = { account_id, plan_id, billing_interval: 'month' as const, team_slots_limit: null };
  await query('SAVEPOINT following');
  try {
    const started = await createSubscription(query, wanted, RENEWAL);
    await markFree(query, started.subscription_id);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    await query('ROLLBACK TO SAVEPOINT following');
  }
}
