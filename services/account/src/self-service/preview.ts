import { databaseNow } from '../platform/database/clock.ts';
import type { Query } from '../platform/database/query.ts';
import { lastSecondBefore, periodFrom, secondAfter } from '../billing/periods/calendar.ts';
import type { BillingInterval } from '../billing/periods/calendar.ts';
import type { PeriodTimes } from '../billing/periods/period-rules.ts';
import { findPlan } from '../billing/plans/store.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';
import { findOwnPeriod } from './own-period.ts';
import type { OwnPeriod } from './own-period.ts';
import { findCharger, findLiveSubscription, findNextStart } from './store.ts';
import { isPaidUpgrade, isUpgrade } from './upgrade.ts';

export type Preview = {
  /** To send with the change, so that it means what was shown. */
  period_id: number | null;
  /** The period of the plan if it starts now: the present one, or a new one. Null if that is not possible. */
  now: PeriodTimes | null;
  /** Whether a start now is charged before: what it costs is asked for. */
  is_charged: boolean;
  /** The same at the end of the current period; null without a subscription. */
  period_end: PeriodTimes | null;
};

/** What subscribing or a change would mean; the same calendar as changes.ts uses. */
export async function previewOf(
  query: Query,
  accountId: number,
  wanted: { plan_id: number; billing_interval: BillingInterval },
  { isPaid }: { isPaid: boolean },
): Promise<Preview> {
  const { plan_id, billing_interval: interval } = wanted;
  const now = await databaseNow(query);
  const [subscription, period, plan] = await Promise.all([
    findLiveSubscription(query, accountId),
    findOwnPeriod(query, accountId, now),
    findPlan(query, plan_id),
  ]);
  const period_id = period?.period_id ?? null;
  if (subscription === undefined) {
    const times = periodFrom(now, { anchor: now, billing_interval: interval }, now);
    return { period_id, now: times, is_charged: false, period_end: null };
  }
  const charger = isPaid ? await findCharger(query, subscription.subscription_id) : 'operator';
  const is_charged = charger === 'stripe';
  const isImmediate =
    charger !== 'none' &&
    period !== undefined &&
    plan !== undefined &&
    (is_charged
      ? isPaidUpgrade({ ...period, ...subscription }, { ...plan, billing_interval: interval })
      : isUpgrade(period, plan));
  return {
    period_id,
    now: isImmediate ? immediate(period, subscription, interval, now) : null,
    is_charged,
    period_end: await atPeriodEnd(query, subscription, interval, now),
  };
}

function immediate(
  period: OwnPeriod,
  subscription: Subscription,
  interval: BillingInterval,
  now: Date,
): PeriodTimes {
  const keepsInterval = interval === subscription.billing_interval;
  const { started_at, ended_at, is_current } = period;
  if (keepsInterval && is_current) return { started_at, ended_at };
  const start = is_current ? secondAfter({ ended_at: lastSecondBefore(now, period) }) : now;
  const anchor = keepsInterval ? subscription.anchor : start;
  return periodFrom(start, { anchor, billing_interval: interval }, start);
}

async function atPeriodEnd(
  query: Query,
  subscription: Subscription,
  interval: BillingInterval,
  now: Date,
): Promise<PeriodTimes> {
  const start = await findNextStart(query, subscription, now);
  const anchor = interval === subscription.billing_interval ? subscription.anchor : start;
  return periodFrom(start, { anchor, billing_interval: interval }, start > now ? start : now);
}
