import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { lastSecondBefore, periodFrom, secondAfter } from '../periods/calendar.ts';
import {
  deleteUpcomingPeriods,
  hasPeriodFrom,
  lastStartedPeriod,
  openPeriod,
  updatePeriod,
} from '../periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { lockOfferedPlan } from '../plans/store.ts';
import { insertSubscription, lockLiveSubscription, lockSubscription, storeSubscription } from './store.ts';
import type { Subscription } from './store.ts';

/**
 * What happens within the transaction of a change of a subscription (ADR 0027): the subscription, its periods and
 * the audit entry. `query` is the transaction's. Locks come in one order: account, subscription, plan, periods.
 */

export type Effect = 'now' | 'period_end';

type Wanted = Pick<Subscription, 'account_id' | 'plan_id' | 'billing_interval' | 'team_slots_limit'>;

/**
 * Begins a subscription, and its first period, with the present second.
 * @throws {Problem} invalid_request, plan_archived, subscription_exists, periods_overlap
 */
export async function createSubscription(query: Query, wanted: Wanted, by: Actor): Promise<Subscription> {
  const { account_id, plan_id, billing_interval, team_slots_limit } = wanted;
  if ((await lockAccount(query, account_id)) === undefined) {
    throw invalidFields([{ field: 'account_id', message: 'there is no such account' }]);
  }
  const now = await databaseNow(query);
  const live = await lockLiveSubscription(query, account_id);
  if (live !== undefined && !isCancellationDue(live, now)) throw new Problem('subscription_exists');
  if (live !== undefined) await endSubscription(query, live, by);
  await lockOfferedPlan(query, plan_id);
  if (await hasPeriodFrom(query, account_id, now)) throw new Problem('periods_overlap');

  const times = periodFrom(now, { anchor: now, billing_interval }, now);
  const renews_at = secondAfter(times);
  const made = await insertSubscription(query, { ...wanted, anchor: now, renews_at });
  await openPeriod(query, { ...made, ...times, blocked_at: null });
  await audit(query, by, made, 'subscription_created', { plan_id, billing_interval, team_slots_limit });
  return made;
}

/** Whether a cancellation that was planned is due: a live row that nobody has ended yet. */
export function isCancellationDue({ cancel_at_period_end, renews_at }: Subscription, now: Date): boolean {
  return cancel_at_period_end && renews_at <= now;
}

/** Ends a subscription whose planned cancellation is due, with its last period. */
export async function endSubscription(query: Query, live: Subscription, by: Actor): Promise<void> {
  await storeSubscription(query, { ...live, ended_at: live.renews_at });
  await audit(query, by, live, 'subscription_ended', { ended_at: live.renews_at });
}

/**
 * Another plan or interval. Now: the period ends, and another begins under the new plan with no usage; it ends when
 * the old one would have, or, where the interval is another, a whole one later. At the period's end: what is
 * planned; the plan and interval that the subscription has anyway take back what was planned.
 *
 * @throws {Problem} not_found, subscription_ended, invalid_request, plan_archived
 */
export async function changePlan(
  query: Query,
  id: number,
  wanted: {
    plan_id: number;
    billing_interval?: Subscription['billing_interval'] | undefined;
    effective: Effect;
  },
  by: Actor,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const { plan_id, billing_interval = subscription.billing_interval, effective } = wanted;
  const isSame = plan_id === subscription.plan_id && billing_interval === subscription.billing_interval;
  // Who has an archived plan keeps it.
  if (!isSame) await lockOfferedPlan(query, plan_id);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  const nothingPending = { pending_plan_id: null, pending_interval: null };
  const details = { plan_id_before: subscription.plan_id, plan_id, billing_interval };
  if (effective === 'period_end') {
    const pending = isSame
      ? nothingPending
      : { pending_plan_id: plan_id, pending_interval: billing_interval };
    return store(query, by, { ...open, ...pending }, 'subscription_plan_change_planned', details);
  }
  const wantedNow = { ...open, ...nothingPending, plan_id, billing_interval };
  const changed = await reopen(query, wantedNow, billing_interval === subscription.billing_interval, now);
  return store(query, by, changed, 'subscription_plan_changed', details);
}

/** Ends the running period, and begins one with what the subscription is now. */
async function reopen(
  query: Query,
  subscription: Subscription,
  keepsAnchor: boolean,
  now: Date,
): Promise<Subscription> {
  const last = await lastStartedPeriod(query, subscription.subscription_id, now);
  let start = now;
  if (last !== undefined && last.ended_at >= now) {
    const { ended_at } = await updatePeriod(query, last.period_id, { ended_at: lastSecondBefore(now, last) });
    start = secondAfter({ ended_at });
  }
  const anchor = keepsAnchor ? subscription.anchor : start;
  const times = periodFrom(start, { ...subscription, anchor }, start);
  // Another plan is no way out of a block.
  await openPeriod(query, { ...subscription, ...times, blocked_at: last?.blocked_at ?? null });
  return { ...subscription, anchor, renews_at: secondAfter(times) };
}

/**
 * Ends a subscription: now, with its period and without a grace window, or at the period's end.
 * @throws {Problem} not_found, subscription_ended
 */
export async function cancelSubscription(
  query: Query,
  id: number,
  effective: Effect,
  by: Actor,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  if (effective === 'period_end') {
    const planned = { ...open, cancel_at_period_end: true };
    return store(query, by, planned, 'subscription_cancellation_planned', { ends_at: open.renews_at });
  }
  const last = await lastStartedPeriod(query, id, now);
  if (last !== undefined && last.ended_at >= now) {
    await updatePeriod(query, last.period_id, { ended_at: lastSecondBefore(now, last), grace_sec: 0 });
  }
  return store(query, by, { ...open, ended_at: now }, 'subscription_ended', { ended_at: now });
}

/** Takes back a planned cancellation. @throws {Problem} not_found, subscription_ended */
export async function resumeSubscription(query: Query, id: number, by: Actor): Promise<Subscription> {
  const { subscription } = await lockLive(query, id);
  return store(query, by, { ...subscription, cancel_at_period_end: false }, 'subscription_resumed', {});
}

/**
 * The add-on of the running period and all that follow; null leaves it to the plan.
 * @throws {Problem} not_found, subscription_ended
 */
export async function setTeamSlots(
  query: Query,
  id: number,
  team_slots_limit: number | null,
  by: Actor,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  const last = await lastStartedPeriod(query, id, now);
  if (last !== undefined && last.ended_at >= now) {
    await updatePeriod(query, last.period_id, { team_slots_limit });
  }
  const details = { team_slots_limit_before: subscription.team_slots_limit, team_slots_limit };
  return store(query, by, { ...open, team_slots_limit }, 'subscription_team_slots_set', details);
}

/**
 * Takes back the period that was opened ahead, so that it is opened anew with what is about to change; nobody can
 * have used it yet. The scheduler sees to that within half a second.
 */
export async function withdrawUpcomingPeriod(
  query: Query,
  subscription: Subscription,
  now: Date,
): Promise<Subscription> {
  const renews_at = await deleteUpcomingPeriods(query, subscription.subscription_id, now);
  return renews_at === undefined ? subscription : { ...subscription, renews_at };
}

async function lockLive(query: Query, id: number): Promise<{ subscription: Subscription; now: Date }> {
  const subscription = await lockSubscription(query, id);
  const now = await databaseNow(query);
  if (subscription.ended_at !== null || isCancellationDue(subscription, now))
    throw new Problem('subscription_ended');
  return { subscription, now };
}

async function store(
  query: Query,
  by: Actor,
  changed: Subscription,
  action: AuditEntry['action'],
  details: AuditEntry['details'],
): Promise<Subscription> {
  await storeSubscription(query, changed);
  await audit(query, by, changed, action, details);
  return changed;
}

async function audit(
  query: Query,
  by: Actor,
  { subscription_id, account_id }: Subscription,
  action: AuditEntry['action'],
  details: AuditEntry['details'],
): Promise<void> {
  const entry = { ...by, action, application_id: null, account_id };
  await recordAudit(query, { ...entry, details: { subscription_id, ...details } });
}
