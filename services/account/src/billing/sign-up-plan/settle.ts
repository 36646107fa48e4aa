import { lockAccount } from '../../identity/accounts/account-store.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { createPeriod } from '../period-changes/changes.ts';
import { lastStartedPeriod } from '../periods/period-store.ts';
import { createSubscription } from '../subscriptions/changes.ts';
import { findOfferedPlan, isInvited, needsNoPlan, putOff, storeSettled } from './store.ts';

export type SignUpPlanSetting = {
  /** Name or id. */
  plan: string;
  /** Length of the one period; 0 for a monthly subscription, which renews. */
  days: number;
};

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** How long an account waits whose plan can't start yet. */
export const RETRY_SEC = 60;

const SIGN_UP: Actor = { actor: 'sign-up', address: 'none', request_id: 'none' };

/**
 * Starts the plan of an account that `takePending` has locked, in the same transaction. An invited account waits: if it
 * accepts, the team pays.
 */
export async function settle(query: Query, setting: SignUpPlanSetting, accountId: number): Promise<void> {
  await lockAccount(query, accountId);
  if (await needsNoPlan(query, accountId)) return storeSettled(query, accountId, null);
  const plan = await findOfferedPlan(query, setting.plan);
  if (plan === undefined || (await isInvited(query, accountId))) {
    return putOff(query, accountId, RETRY_SEC);
  }
  await storeSettled(query, accountId, await start(query, accountId, plan.plan_id, setting.days));
}

async function start(
  query: Query,
  account_id: number,
  plan_id: number,
  days: number,
): Promise<number | null> {
  const wanted = { account_id, plan_id, team_slots_limit: null };
  if (days === 0) {
    const made = await createSubscription(query, { ...wanted, billing_interval: 'month' }, SIGN_UP);
    const first = await lastStartedPeriod(query, made.subscription_id, made.anchor);
    return first?.period_id ?? null;
  }
  const started_at = await databaseNow(query);
  const ended_at = new Date(started_at.getTime() + days * DAY_MS - SECOND_MS);
  const { period_id } = await createPeriod(query, { ...wanted, started_at, ended_at }, SIGN_UP);
  return period_id;
}
