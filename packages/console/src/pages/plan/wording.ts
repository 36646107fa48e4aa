import { counted, daysUntil, formatNumber } from '../../ui/format.ts';
import { formatAmount } from './credits/price.ts';
import type { Interval, Plan, Subscription } from './queries.ts';

export type Period = NonNullable<Subscription['billing_period']>;

const BYTES_PER_GB = 1_000_000_000;
const SEC_PER_HOUR = 3_600;

export function points(limit: number | null | undefined): string {
  return typeof limit === 'number' ? counted(limit, 'point') : 'unlimited points';
}

/**
 * What is left of a period, or lost if it ends early, such as "950 points and 12 days". `credits`: points that stay, which
 * the period's limit includes.
 */
export function remains(period: Period, isTimeLost: boolean, credits = 0): string {
  const limit = period.limits.points_limit;
  const left = typeof limit === 'number' ? Math.max(limit - period.usage.points_usage - credits, 0) : null;
  const lost = left === null ? 'its unlimited points' : counted(left, 'point');
  return isTimeLost ? `${lost} and ${counted(daysUntil(period.ended_at), 'day')}` : lost;
}

export const PER_INTERVAL: Record<Interval, string> = { month: 'every month', year: 'every year' };

const BILLING: Record<Interval, string> = { month: 'monthly billing', year: 'yearly billing' };

/** What one changes to: a plan or, of the plan that one has, the other interval. */
export function changeTarget(
  own: Pick<Plan, 'plan_id'> | null,
  { plan_id, name }: Pick<Plan, 'plan_id' | 'name'>,
  interval: Interval,
): string {
  return own?.plan_id === plan_id ? BILLING[interval] : name;
}

/** The limits of a plan in the order of the interface, each as label and value. */
export function limitRows({
  limits,
  points_per_call_limit: pointsPerCall,
  rollover_points_max: rollover,
  overage,
  team_slots: slots,
}: Pick<Plan, 'limits' | 'points_per_call_limit' | 'rollover_points_max' | 'overage' | 'team_slots'>): [
  string,
  string,
][] {
  const number = (limit: number | null | undefined, text = formatNumber) =>
    typeof limit === 'number' ? text(limit) : 'Unlimited';
  const points: [string, string][] = [['Points per billing period', number(limits.points_limit)]];
  if (overage !== null)
    points.push(['1,000 further points', `${formatAmount(overage.price_per_1000, overage)} without tax`]);
  if (rollover !== null) points.push(['Unused points carried over', `Up to ${formatNumber(rollover)}`]);
  if (pointsPerCall !== null) points.push(['Points per call, at most', formatNumber(pointsPerCall)]);
  const rows: [string, string][] = [
    ...points,
    ['Calls per minute', number(limits.rate_limit)],
    ['Calls at once', number(limits.session_limit)],
    ['Open subscriptions', number(limits.subscription_limit)],
    ['Streaming hours', number(limits.time_sec_limit, (sec) => formatNumber(sec / SEC_PER_HOUR))],
    ['Traffic in GB', number(limits.traffic_bytes_limit, (bytes) => formatNumber(bytes / BYTES_PER_GB))],
    ['Team members included', number(limits.team_slots_limit)],
  ];
  if (slots === null) return rows;
  rows.push(['Team members with additional slots', `Up to ${formatNumber(slots.max)}`]);
  if (slots.price !== null) rows.push(['Additional slot', slots.price]);
  return rows;
}

type Change = {
  plan: Pick<Plan, 'name' | 'limits' | 'team_slots' | 'prices'>;
  subscription: Pick<Subscription, 'billing_period' | 'subscription' | 'team_slots'>;
};

/** More slots than the new plan can have are to be released before the change. */
function hasExcessSlots({ plan, subscription }: Change): boolean {
  const most = mostSlots(plan);
  return most !== null && (subscription.subscription?.team_slots_limit ?? 0) > most;
}

/** Null without a limit. */
function mostSlots({ limits, team_slots }: Change['plan']): number | null {
  const included = limits.team_slots_limit;
  return included === null ? null : Math.max(included, team_slots?.max ?? 0);
}

/** Slots that the account has bought are kept by a change if the new plan doesn't include as many. */
function additionalSlots(change: Change): number {
  const bought = change.subscription.subscription?.team_slots_limit ?? 0;
  const included = change.plan.limits.team_slots_limit ?? bought;
  return hasExcessSlots(change) ? 0 : Math.max(bought - included, 0);
}

/** The plan's price, and that of slots that stay: two texts, whose sum only the operator knows. */
export function priceInWords(change: Change, interval: Interval): string {
  const { plan } = change;
  const price = `The price is ${plan.prices[interval] ?? ''}`;
  const additional = additionalSlots(change);
  if (additional === 0) return `${price}.`;
  return `${price}, plus ${counted(additional, 'additional team slot')}.${eachSlot(plan.team_slots)}`;
}

function eachSlot(offered: Plan['team_slots']): string {
  return offered === null || offered.price === null ? '' : ` Each additional slot: ${offered.price}.`;
}

/** What of the present use is more than the new plan has. */
export function shortfalls(change: Change): string[] {
  const { plan, subscription } = change;
  const { points_limit, team_slots_limit } = plan.limits;
  const used = subscription.billing_period?.usage.points_usage ?? 0;
  const slots = subscription.team_slots?.used ?? 0;
  const bought = subscription.subscription?.team_slots_limit ?? 0;
  const found: string[] = [];
  if (points_limit !== null && used > points_limit) {
    found.push(
      `You used ${points(used)} in this billing period. ${plan.name} has ${formatNumber(points_limit)}.`,
    );
  }
  if (hasExcessSlots(change)) {
    const most = formatNumber(mostSlots(plan) ?? 0);
    found.push(
      `You have ${counted(bought, 'team slot')}. ${plan.name} has ${most} at most. Release team slots first.`,
    );
  } else if (team_slots_limit !== null && slots > team_slots_limit) {
    const outcome =
      bought > team_slots_limit
        ? `You keep the ${formatNumber(bought)} slots that you have.`
        : slotsMissing(plan.team_slots);
    found.push(
      `Your team uses ${counted(slots, 'slot')}. ${plan.name} includes ${formatNumber(team_slots_limit)}. ${outcome}`,
    );
  }
  return found;
}

function slotsMissing(offered: Plan['team_slots']): string {
  const stay = 'All members stay, but you can’t invite anyone until a slot is free.';
  return offered === null ? stay : `${stay} You can add slots.${eachSlot(offered)}`;
}
