import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { moveDue } from '../periods/payment-blocks.ts';
import {
  SHORTEST_PERIOD_MS,
  lastSecondBefore,
  periodFrom,
  secondAfter,
  secondBefore,
} from '../periods/calendar.ts';
import {
  deleteUpcomingPeriods,
  lastEndFrom,
  lastStartedPeriod,
  openPeriod,
  replacePlan,
  updatePeriod,
} from '../periods/period-store.ts';
import type { Period } from '../periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { enforcedLimits } from '../periods/limits.ts';
import { lockOfferedPlan, lockPlanForShare } from '../plans/store.ts';
import type { Plan } from '../plans/store.ts';
import { insertSubscription, lockLiveSubscription, lockSubscription, storeSubscription } from './store.ts';
import type { Subscription } from './store.ts';

/** `query` is a transaction's (docs/design/billing.md). Lock order: account, subscription, plan, periods. */

export type Effect = 'now' | 'period_end';

const FIELDS = [
  'plan_id',
  'billing_interval',
  'anchor',
  'team_slots_limit',
  'pending_plan_id',
  'pending_interval',
  'pending_team_slots_limit',
  'cancel_at_period_end',
  'following_plan_id',
  'renews_at',
  'ended_at',
] as const;

type Wanted = Pick<Subscription, 'account_id' | 'plan_id' | 'billing_interval' | 'team_slots_limit'> & {
  /** Already paid for: as sold, even if the plan is archived now, and with the payment provider's anchor. */
  paid?: { anchor: Date };
  /** When the transaction began to end what the account had: the new period leaves out no second behind it. */
  replacedAt?: Date;
};

/** Begins now, or after a period that ends within two seconds. @throws {Problem} invalid_request, plan_archived, subscription_exists, periods_overlap */
export async function createSubscription(query: Query, wanted: Wanted, by: Actor): Promise<Subscription> {
  const { account_id, plan_id, billing_interval, team_slots_limit, paid, replacedAt } = wanted;
  if ((await lockAccount(query, account_id)) === undefined) {
    throw invalidFields([{ field: 'account_id', message: 'there is no such account' }]);
  }
  const now = await databaseNow(query);
  const live = await lockLiveSubscription(query, account_id);
  if (live !== undefined && !isCancellationDue(live, now)) throw new Problem('subscription_exists');
  if (live !== undefined) await endSubscription(query, live, by);
  if (paid === undefined) await lockOfferedPlan(query, plan_id);
  else await lockPlanForShare(query, plan_id);
  const started_at = await startOfNext(query, account_id, { now, replacedAt });
  const anchor = paid?.anchor ?? started_at;
  const { ended_at } = periodFrom(started_at, { anchor, billing_interval }, instantFrom(started_at, anchor));
  const renews_at = secondAfter({ ended_at });
  const made = await insertSubscription(query, {
    account_id,
    plan_id,
    billing_interval,
    team_slots_limit,
    anchor,
    renews_at,
  });
  await openPeriod(query, { ...made, started_at, ended_at, blocked_at: null });
  const details = { plan_id, billing_interval, team_slots_limit };
  await audit(query, by, [null, made], 'subscription_created', details);
  return made;
}

/**
 * A period has at least two seconds, so one that was ended right after its start ends just after now.
 * @throws {Problem} periods_overlap
 */
async function startOfNext(
  query: Query,
  accountId: number,
  { now, replacedAt }: { now: Date; replacedAt: Date | undefined },
): Promise<Date> {
  // What is replaced ended a second before its end was asked for, and another second may have begun since.
  const last = await lastEndFrom(query, accountId, replacedAt === undefined ? now : secondBefore(replacedAt));
  if (last === undefined) return now;
  const start = secondAfter(last);
  if (start.getTime() - now.getTime() > SHORTEST_PERIOD_MS) throw new Problem('periods_overlap');
  return start;
}

export function isCancellationDue({ cancel_at_period_end, renews_at }: Subscription, now: Date): boolean {
  return cancel_at_period_end && renews_at <= now;
}

/** Processes a planned cancellation that is due. */
export async function endSubscription(query: Query, live: Subscription, by: Actor): Promise<void> {
  const ended = { ...live, ended_at: live.renews_at };
  await store(query, by, [live, ended], 'subscription_ended', { ended_at: live.renews_at });
}

/** What becomes of the present period's usage when its plan changes now. */
type UsageEffect = 'reset' | 'keep';

type WantedPlan = {
  plan_id: number;
  billing_interval?: Subscription['billing_interval'] | undefined;
  effective: Effect;
  /** Only for a change that is effective now; `reset` by default. */
  usage?: UsageEffect | undefined;
  /** Already paid for: as sold, even if the plan is archived now, and with the payment provider's anchor. */
  paid?: { anchor: Date };
};

/**
 * `now` and `keep`: the period goes on under the new plan, so that its usage counts against the new limits. `now` and
 * `reset`: the period ends, and one without usage starts. It ends when the old one would have, or a whole interval later
 * if the interval changes, which always resets. `period_end`: plans the change; the present plan and interval revoke a
 * planned one.
 * @throws {Problem} not_found, subscription_ended, invalid_request, plan_archived
 */
export async function changePlan(
  query: Query,
  id: number,
  wanted: WantedPlan,
  by: Actor,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const { plan_id, billing_interval = subscription.billing_interval, effective, usage = 'reset' } = wanted;
  const keepsInterval = billing_interval === subscription.billing_interval;
  if (usage === 'keep' && (effective !== 'now' || !keepsInterval)) {
    throw invalidFields([{ field: 'usage', message: 'keep needs effective now and the present interval' }]);
  }
  const isSame = plan_id === subscription.plan_id && keepsInterval;
  // Subscriptions keep an archived plan.
  const plan = isSame ? undefined : await lockWantedPlan(query, wanted);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  const nothingPending = { pending_plan_id: null, pending_interval: null };
  const details = { plan_id_before: subscription.plan_id, plan_id, billing_interval };
  if (effective === 'period_end') {
    const pending = isSame
      ? nothingPending
      : { pending_plan_id: plan_id, pending_interval: billing_interval };
    return store(
      query,
      by,
      [subscription, { ...open, ...pending }],
      'subscription_plan_change_planned',
      details,
    );
  }
  const { team_slots_limit } = open;
  const slots = plan === undefined ? team_slots_limit : addOnUnder(plan, team_slots_limit);
  const wantedNow = { ...open, ...nothingPending, plan_id, billing_interval, team_slots_limit: slots };
  const last = await lastStartedPeriod(query, id, now);
  const isCurrent = last !== undefined && last.ended_at >= now;
  if (usage === 'keep' && isCurrent) {
    const { period_id } = await replacePlan(query, last.period_id, plan_id);
    if (slots !== last.team_slots_limit) await updatePeriod(query, period_id, { team_slots_limit: slots });
    const change = [subscription, wantedNow] as const;
    return store(query, by, change, 'subscription_plan_changed', { ...details, period_id });
  }
  const { anchor } = wanted.paid ?? (keepsInterval ? subscription : { anchor: undefined });
  const changed = await reopen(query, wantedNow, { last, anchor, now });
  return store(query, by, [subscription, changed], 'subscription_plan_changed', details);
}

function lockWantedPlan(query: Query, { plan_id, paid }: WantedPlan): Promise<Plan | undefined> {
  return paid === undefined ? lockOfferedPlan(query, plan_id) : lockPlanForShare(query, plan_id);
}

/** Without an anchor, periods are counted from the new one's start. */
async function reopen(
  query: Query,
  subscription: Subscription,
  { last, anchor: given, now }: { last: Period | undefined; anchor: Date | undefined; now: Date },
): Promise<Subscription> {
  const isCurrent = last !== undefined && last.ended_at >= now;
  let start = now;
  if (isCurrent) {
    const { ended_at } = await updatePeriod(query, last.period_id, { ended_at: lastSecondBefore(now, last) });
    start = secondAfter({ ended_at });
  }
  const anchor = given ?? start;
  const times = periodFrom(start, { ...subscription, anchor }, instantFrom(start, anchor));
  // A plan change must not lift a block.
  const opened = await openPeriod(query, { ...subscription, ...times, blocked_at: last?.blocked_at ?? null });
  // The invoice of the period that was cut short pays for the one in its place.
  if (isCurrent) await moveDue(query, last.period_id, opened.period_id);
  return { ...subscription, anchor, renews_at: secondAfter(times) };
}

/** An anchor of another clock can be a second ahead. */
function instantFrom(start: Date, anchor: Date): Date {
  return anchor > start ? anchor : start;
}

/** A new plan that has as many slots of its own replaces the add-on, which would lower them. */
export function addOnUnder(
  { description }: Pick<Plan, 'description'>,
  team_slots_limit: number | null,
): number | null {
  const own = enforcedLimits({ description, team_slots_limit: null }).team_slots_limit;
  return own === null || own >= (team_slots_limit ?? 0) ? null : team_slots_limit;
}

/** Periods after the present one are counted from another instant. @throws {Problem} not_found, subscription_ended */
export async function moveBillingDate(
  query: Query,
  id: number,
  anchor: Date,
  by: Actor,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  const details = { anchor_before: subscription.anchor, anchor };
  return store(query, by, [subscription, { ...open, anchor }], 'subscription_billing_date_moved', details);
}

/**
 * `now` also ends the period, without a grace window. `following_plan_id`: a free plan that starts then (following.ts).
 * @throws {Problem} not_found, subscription_ended
 */
export async function cancelSubscription(
  query: Query,
  id: number,
  effective: Effect,
  by: Actor,
  following_plan_id: number | null = null,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  if (effective === 'period_end') {
    const planned = { ...open, cancel_at_period_end: true, following_plan_id };
    const details = { ends_at: open.renews_at, following_plan_id };
    return store(query, by, [subscription, planned], 'subscription_cancellation_planned', details);
  }
  const last = await lastStartedPeriod(query, id, now);
  if (last !== undefined && last.ended_at >= now) {
    await updatePeriod(query, last.period_id, { ended_at: lastSecondBefore(now, last), grace_sec: 0 });
  }
  const ended = [subscription, { ...open, ended_at: now }] as const;
  return store(query, by, ended, 'subscription_ended', { ended_at: now });
}

/** Revokes a planned cancellation. @throws {Problem} not_found, subscription_ended */
export async function resumeSubscription(query: Query, id: number, by: Actor): Promise<Subscription> {
  const { subscription } = await lockLive(query, id);
  const resumed = { ...subscription, cancel_at_period_end: false, following_plan_id: null };
  return store(query, by, [subscription, resumed], 'subscription_resumed', {});
}

/** For the current and all later periods; null is the plan's value. Revokes a planned release. @throws {Problem} not_found, subscription_ended */
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
  const changed = { ...open, team_slots_limit, pending_team_slots_limit: null };
  return store(query, by, [subscription, changed], 'subscription_team_slots_set', details);
}

/** All slots that are left from the next period on; null revokes a planned release. @throws {Problem} not_found, subscription_ended */
export async function planTeamSlots(
  query: Query,
  id: number,
  pending_team_slots_limit: number | null,
  by: Actor,
): Promise<Subscription> {
  const { subscription, now } = await lockLive(query, id);
  const open = await withdrawUpcomingPeriod(query, subscription, now);
  const details = { team_slots_limit_before: subscription.team_slots_limit, pending_team_slots_limit };
  const planned = { ...open, pending_team_slots_limit };
  return store(query, by, [subscription, planned], 'subscription_team_slots_planned', details);
}

/** The period opened ahead has no usage yet; the scheduler reopens it with the changed attributes. */
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
  [before, changed]: readonly [Subscription, Subscription],
  action: AuditEntry['action'],
  details: AuditEntry['details'],
): Promise<Subscription> {
  await storeSubscription(query, changed);
  await audit(query, by, [before, changed], action, details);
  return changed;
}

async function audit(
  query: Query,
  by: Actor,
  [before, after]: readonly [Subscription | null, Subscription],
  action: AuditEntry['action'],
  details: AuditEntry['details'],
): Promise<void> {
  const { subscription_id, account_id } = after;
  const entry = { ...by, action, application_id: null, account_id };
  const change = changeOf(FIELDS, before, after);
  await recordAudit(query, { ...entry, details: { subscription_id, ...details }, change });
}
