import { Problem } from '@tollgate/http/problem';
import { endPeriod } from '../../billing/period-changes/changes.ts';
import {
  cancelSubscription,
  createSubscription,
  isCancellationDue,
} from '../../billing/subscriptions/changes.ts';
import { lockLiveSubscription } from '../../billing/subscriptions/store.ts';
import type { Subscription } from '../../billing/subscriptions/store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { findOwnPeriod } from '../../self-service/own-period.ts';
import { findCharger } from '../../self-service/store.ts';
import { PAYMENTS_ACTOR } from '../actor.ts';
import type { StripeSubscription } from './store.ts';

/** What a paid subscription replaces when it starts: a free one, or the trial of the sign-up. */
type Replaced = { subscription_id: number | null; period_id: number | null };

/**
 * The account is locked.
 * @throws {Problem} subscription_exists, periods_overlap with a period of an operator, account_blocked
 */
export async function requireStartable(query: Query, accountId: number): Promise<Replaced> {
  const now = await databaseNow(query);
  const live = await lockLiveSubscription(query, accountId);
  const period = await findOwnPeriod(query, accountId, now);
  // A new period would lift the block.
  if (period !== undefined && period.blocked_at !== null) throw new Problem('account_blocked');
  if (live !== undefined && !isCancellationDue(live, now)) {
    if ((await findCharger(query, live.subscription_id)) !== 'none') throw new Problem('subscription_exists');
    return { subscription_id: live.subscription_id, period_id: null };
  }
  const manual = await query<{ period_id: number; is_sign_up: boolean; is_ahead: boolean }>(
    `SELECT period_id, started_at > :now AS is_ahead,
       EXISTS (SELECT FROM sign_up_plans WHERE sign_up_plans.period_id = billing_periods.period_id) AS is_sign_up
     FROM billing_periods WHERE account_id = :accountId AND subscription_id IS NULL AND ended_at >= :now`,
    { accountId, now },
  );
  if (manual.some(({ is_sign_up, is_ahead }) => !is_sign_up || is_ahead))
    throw new Problem('periods_overlap');
  return { subscription_id: null, period_id: manual[0]?.period_id ?? null };
}

/**
 * What the account had until now ends in the same transaction. A plan that was archived meanwhile is honoured as sold.
 * @throws {Problem} as requireStartable
 */
export async function startPaid(
  query: Query,
  { account_id, plan_id, billing_interval }: StripeSubscription,
  anchor: Date,
): Promise<Subscription> {
  const replacedAt = await databaseNow(query);
  const replaced = await requireStartable(query, account_id);
  if (replaced.subscription_id !== null) {
    await cancelSubscription(query, replaced.subscription_id, 'now', PAYMENTS_ACTOR);
  }
  if (replaced.period_id !== null) await endPeriod(query, replaced.period_id, PAYMENTS_ACTOR);
  const sold = { account_id, plan_id, billing_interval, team_slots_limit: null };
  return createSubscription(query, { ...sold, paid: { anchor }, replacedAt }, PAYMENTS_ACTOR);
}
