import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Change } from '../../platform/audit/change.ts';
import { lastSecondBefore } from '../periods/calendar.ts';
import { deletePeriod, lockPeriod, openPeriod, replacePlan, updatePeriod } from '../periods/period-store.ts';
import type { Period } from '../periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { lockOfferedPlan } from '../plans/store.ts';
import { isCancellationDue, withdrawUpcomingPeriod } from '../subscriptions/changes.ts';
import { lockLiveSubscription, lockSubscription, storeSubscription } from '../subscriptions/store.ts';
import type { Subscription } from '../subscriptions/store.ts';

/** While an account has a subscription, only that adds later periods, so that none is in the way of a renewal. */

type NewPeriod = Pick<Period, 'account_id' | 'plan_id' | 'team_slots_limit' | 'started_at' | 'ended_at'>;

/** What an operator changes of a period, with what a plan brings. */
const FIELDS = [
  'plan_id',
  'plan_name',
  'product_id',
  'description',
  'grace_sec',
  'team_slots_limit',
  'started_at',
  'ended_at',
  'blocked_at',
] as const;

type Locked = { period: Period; subscription: Subscription | undefined; now: Date };

/** @throws {Problem} invalid_request, plan_archived, subscription_exists, periods_overlap */
export async function createPeriod(query: Query, wanted: NewPeriod, by: Actor): Promise<Period> {
  if ((await lockAccount(query, wanted.account_id)) === undefined) {
    throw invalidFields([{ field: 'account_id', message: 'there is no such account' }]);
  }
  const subscription = await lockLiveSubscription(query, wanted.account_id);
  if (subscription !== undefined && wanted.ended_at >= subscription.anchor) {
    throw new Problem('subscription_exists');
  }
  await lockOfferedPlan(query, wanted.plan_id);
  const period = await openPeriod(query, { ...wanted, subscription_id: null, blocked_at: null });
  const { plan_id, started_at, ended_at, team_slots_limit } = period;
  const details = { plan_id, started_at, ended_at, team_slots_limit };
  await audit(query, by, period, 'period_created', details, changeOf(FIELDS, null, period));
  return period;
}

/**
 * Moves the end, or goes on under another plan, whose limits then count for all of it.
 * @throws {Problem} not_found, period_not_active, subscription_exists, plan_archived, periods_overlap, invalid_request
 */
export async function changePeriod(
  query: Query,
  periodId: number,
  { plan_id, ended_at }: { plan_id?: number | undefined; ended_at?: Date | undefined },
  by: Actor,
): Promise<Period> {
  const [owner] = await query<{ account_id: number }>(
    'SELECT account_id FROM billing_periods WHERE period_id = :periodId',
    { periodId },
  );
  if (owner === undefined) throw new Problem('not_found');
  await lockAccount(query, owner.account_id);
  if ((await lockLiveSubscription(query, owner.account_id)) !== undefined) {
    throw new Problem('subscription_exists', { detail: 'Change the plan of the subscription instead.' });
  }
  const { period, now } = await lockOwnPeriod(query, periodId);
  if (period.started_at > now || period.ended_at < now) throw new Problem('period_not_active');
  if (ended_at !== undefined && ended_at <= now) {
    throw invalidFields([{ field: 'ended_at', message: 'must be later than now; end the period instead' }]);
  }
  let changed = period;
  if (plan_id !== undefined && plan_id !== period.plan_id) {
    await lockOfferedPlan(query, plan_id);
    changed = await replacePlan(query, periodId, plan_id);
  }
  if (ended_at !== undefined) changed = await updatePeriod(query, periodId, { ended_at });
  const details = {
    plan_id_before: period.plan_id,
    plan_id: changed.plan_id,
    ended_at_before: period.ended_at,
    ended_at: changed.ended_at,
  };
  await audit(query, by, period, 'period_changed', details, changeOf(FIELDS, period, changed));
  return changed;
}

/** Ends it one second ago, without grace. @throws {Problem} not_found, period_not_active, subscription_exists */
export async function endPeriod(query: Query, periodId: number, by: Actor): Promise<Period> {
  const { period, now } = await lockOwnPeriod(query, periodId);
  if (period.started_at > now || period.ended_at < now) throw new Problem('period_not_active');
  const { ended_at: ended_at_before, grace_sec: grace_sec_before } = period;
  const ended_at = lastSecondBefore(now, period);
  const ended = await updatePeriod(query, periodId, { ended_at, grace_sec: 0 });
  const details = { ended_at, ended_at_before, grace_sec_before };
  await audit(query, by, period, 'period_ended', details, changeOf(FIELDS, period, ended));
  return ended;
}

/** @throws {Problem} not_found, period_started, subscription_exists */
export async function removePeriod(query: Query, periodId: number, by: Actor): Promise<void> {
  const { period, now } = await lockOwnPeriod(query, periodId);
  if (period.started_at <= now) throw new Problem('period_started');
  await deletePeriod(query, periodId);
  const { plan_id, started_at, ended_at } = period;
  const details = { plan_id, started_at, ended_at };
  await audit(query, by, period, 'period_deleted', details, changeOf(FIELDS, period, null));
}

/** Blocking the last period stops renewals; the upcoming one is withdrawn. @throws {Problem} not_found */
export async function setPeriodBlocked(
  query: Query,
  periodId: number,
  blocked: boolean,
  by: Actor,
): Promise<Period> {
  const { period, subscription, now } = await lock(query, periodId);
  if (blocked && subscription !== undefined && period.started_at <= now) {
    await storeSubscription(query, await withdrawUpcomingPeriod(query, subscription, now));
  }
  const blocked_at = blocked ? (period.blocked_at ?? now) : null;
  const changed = await updatePeriod(query, periodId, { blocked_at });
  const action = blocked ? 'period_blocked' : 'period_unblocked';
  await audit(query, by, period, action, {}, changeOf(FIELDS, period, changed));
  return changed;
}

/** Null means the plan's value. @throws {Problem} not_found */
export async function setPeriodTeamSlots(
  query: Query,
  periodId: number,
  team_slots_limit: number | null,
  by: Actor,
): Promise<Period> {
  const { period } = await lock(query, periodId);
  const changed = await updatePeriod(query, periodId, { team_slots_limit });
  const details = { team_slots_limit_before: period.team_slots_limit, team_slots_limit };
  await audit(query, by, period, 'period_team_slots_set', details, changeOf(FIELDS, period, changed));
  return changed;
}

/** Locks the subscription first, as a renewal does. `subscription` is undefined without a live one. */
async function lock(query: Query, periodId: number): Promise<Locked> {
  const rows = await query<{ subscription_id: number | null }>(
    'SELECT subscription_id FROM billing_periods WHERE period_id = :periodId',
    { periodId },
  );
  const id = rows[0]?.subscription_id ?? null;
  const subscription = id === null ? undefined : await lockSubscription(query, id);
  const period = await lockPeriod(query, periodId);
  // It may have been withdrawn meanwhile.
  if (period === undefined) throw new Problem('not_found');
  const now = await databaseNow(query);
  const isLive = subscription?.ended_at === null && !isCancellationDue(subscription, now);
  return { period, subscription: isLive ? subscription : undefined, now };
}

async function lockOwnPeriod(query: Query, periodId: number): Promise<Locked> {
  const locked = await lock(query, periodId);
  if (locked.subscription !== undefined) {
    throw new Problem('subscription_exists', {
      detail: 'Cancel the subscription to end its period.',
    });
  }
  return locked;
}

async function audit(
  query: Query,
  by: Actor,
  { period_id, account_id }: Period,
  action: AuditEntry['action'],
  details: AuditEntry['details'],
  change: Change | undefined,
): Promise<void> {
  const entry = { ...by, action, application_id: null, account_id };
  await recordAudit(query, { ...entry, details: { period_id, ...details }, change });
}
