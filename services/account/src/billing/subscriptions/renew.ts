import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { periodFrom, secondAfter } from '../periods/calendar.ts';
import { addRenewalDue } from '../periods/payment-blocks.ts';
import { lastStartedPeriod, openPeriod } from '../periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockPlanForShare } from '../plans/store.ts';
import type { Plan } from '../plans/store.ts';
import { addOnUnder, endSubscription, isCancellationDue } from './changes.ts';
import { COLUMNS, storeSubscription } from './store.ts';
import type { Subscription } from './store.ts';

/** After a billing date was moved, a shorter rest until that date is a part of the period after it. */
const LEAST_PERIOD_MS = 86_400_000;

/** Opened ahead so that none is late: one replica opens tens of thousands of periods in ten minutes. */
const RENEWAL_LEAD_SEC = 600;

/** A subscription whose last period is blocked or not paid isn't renewed: time must not lift a block. */
export const DUE_CONDITION = `subscriptions.ended_at IS NULL
  AND renews_at <= clock_timestamp()
    + CASE WHEN cancel_at_period_end THEN interval '0' ELSE interval '${String(RENEWAL_LEAD_SEC)} seconds' END
  AND (cancel_at_period_end OR NOT coalesce((
    SELECT blocked_at IS NOT NULL
      OR EXISTS (SELECT FROM payment_blocks WHERE payment_blocks.period_id = billing_periods.period_id)
    FROM billing_periods WHERE billing_periods.subscription_id = subscriptions.subscription_id
    ORDER BY started_at DESC LIMIT 1), false))`;

export const RENEWAL: Actor = { actor: 'renewal', address: 'none', request_id: 'none' };

/** Locks a due subscription that no other replica has taken. */
export async function takeDue(query: Query): Promise<Subscription | undefined> {
  const rows = await query<Subscription>(
    `SELECT ${COLUMNS} FROM subscriptions
     WHERE ${DUE_CONDITION} AND next_attempt_at <= clock_timestamp()
     ORDER BY renews_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  return rows[0];
}

/**
 * Opens the next period or processes a planned cancellation; after an outage, skips periods that are already over.
 * `paymentGraceSec`: how long a renewal may stay unpaid; null without payments.
 * @throws {Problem} periods_overlap with a period created by an operator
 */
export async function renew(query: Query, due: Subscription, paymentGraceSec: number | null): Promise<void> {
  const now = await databaseNow(query);
  if (isCancellationDue(due, now)) return endSubscription(query, due, RENEWAL);
  const plan_id = due.pending_plan_id ?? due.plan_id;
  const plan = await lockPlanForShare(query, plan_id);
  const instant = due.renews_at > now ? due.renews_at : now;
  const last = await lastStartedPeriod(query, due.subscription_id, instant);
  // The block was committed while the subscription was being selected.
  if (last !== undefined && last.blocked_at !== null) return;

  const next = afterPending(due, plan);
  const times = periodFrom(due.renews_at, next, instant, LEAST_PERIOD_MS);
  const period = await openPeriod(query, { ...next, ...times, blocked_at: null });
  const { period_id } = period;
  if (paymentGraceSec !== null) await addRenewalDue(query, period, paymentGraceSec);
  await storeSubscription(query, { ...next, renews_at: secondAfter(times) });
  await recordAudit(query, {
    ...RENEWAL,
    action: 'subscription_renewed',
    application_id: null,
    account_id: due.account_id,
    details: { subscription_id: due.subscription_id, period_id, plan_id, started_at: times.started_at },
  });
}

/** Applies the planned changes. A new interval is counted from the next period's start. */
function afterPending(due: Subscription, plan: Plan | undefined): Subscription {
  const { pending_plan_id, pending_interval, pending_team_slots_limit } = due;
  const isPlanned = pending_plan_id !== null && pending_interval !== null;
  if (!isPlanned && pending_team_slots_limit === null) return due;
  const slots = pending_team_slots_limit ?? due.team_slots_limit;
  const next = {
    ...due,
    team_slots_limit: plan === undefined ? slots : addOnUnder(plan, slots),
    pending_team_slots_limit: null,
  };
  if (!isPlanned) return next;
  return {
    ...next,
    plan_id: pending_plan_id,
    billing_interval: pending_interval,
    anchor: pending_interval === due.billing_interval ? due.anchor : due.renews_at,
    pending_plan_id: null,
    pending_interval: null,
  };
}
