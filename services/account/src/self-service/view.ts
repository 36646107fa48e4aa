import { Problem } from '@tollgate/http/problem';
import { findAccount } from '../identity/accounts/account-store.ts';
import type { Query } from '../platform/database/query.ts';
import { countTaken, findMembership } from '../teams/store.ts';
import { entitlementAnswer } from '../billing/entitlements/entitlement-answer.ts';
import { secondAfter } from '../billing/periods/calendar.ts';
import type { BillingInterval } from '../billing/periods/calendar.ts';
import {
  callRules,
  enforcedLimits,
  includedPoints,
  overagePrice,
  rolloverPointsMax,
} from '../billing/periods/limits.ts';
import { overageOffer } from '../billing/periods/overage-offer.ts';
import { findDue } from '../billing/periods/payment-blocks.ts';
import { findPayerPeriods } from '../billing/periods/payer-periods.ts';
import type { PayerPeriods } from '../billing/periods/payer-periods.ts';
import { pickPeriod } from '../billing/periods/period-rules.ts';
import { sumUsage } from '../billing/periods/usage-sums.ts';
import { findPlan, listPublicPlans } from '../billing/plans/store.ts';
import type { Plan } from '../billing/plans/store.ts';
import { findOwnPeriod } from './own-period.ts';
import { findPrice } from './paid-plans.ts';
import type { PaidPlans } from './paid-plans.ts';
import { yearlySavingPercent } from './yearly-saving.ts';
import type { SelfService } from './settings.ts';
import { findCharger, findLiveSubscription, findNextStart, isPayingCustomer } from './store.ts';
import type { NamedSubscription } from './store.ts';
import { limitsOf } from './upgrade.ts';

/** Who pays, for what, until when, and what the account holder can change. @throws {Problem} not_found */
export async function subscriptionView(
  query: Query,
  accountId: number,
  selfService: SelfService,
  paidPlans: PaidPlans | null,
) {
  const payerPeriods = await findPayerPeriods(query, accountId);
  if (payerPeriods === undefined) throw new Problem('not_found');
  const { payer_id, now } = payerPeriods;
  const payer = await findAccount(query, payer_id);
  if (payer === undefined) throw new Problem('not_found');
  const subscription = await findLiveSubscription(query, accountId);
  return {
    account_id: accountId,
    payer: { account_id: payer_id, name: payer.name, email: payer.email },
    status: entitlementAnswer(payerPeriods).status,
    billing_period: await periodView(query, payerPeriods),
    subscription:
      subscription === undefined
        ? null
        : subscriptionAnswer(subscription, await findNextStart(query, subscription, now)),
    team_slots:
      subscription === undefined || payer_id !== accountId
        ? null
        : await slotsView(query, accountId, subscription, { now, paidPlans }),
    payments: paidPlans !== null ? await paymentsView(query, accountId, { payer_id, subscription }) : null,
    self_service: { actions: [...selfService.actions], contact_sales_url: selfService.contactSalesUrl },
  };
}

async function paymentsView(
  query: Query,
  accountId: number,
  { payer_id, subscription }: { payer_id: number; subscription: NamedSubscription | undefined },
) {
  const charger =
    subscription === undefined ? 'none' : await findCharger(query, subscription.subscription_id);
  return {
    is_checkout: charger === 'none',
    has_portal: await isPayingCustomer(query, accountId),
    due: payer_id === accountId ? ((await findDue(query, accountId)) ?? null) : null,
  };
}

async function periodView(query: Query, { payer_id, periods, now }: PayerPeriods) {
  const period = pickPeriod(periods, now);
  if (period === undefined) return null;
  const { period_id, plan_name, product_name, started_at, ended_at, grace_sec } = period;
  const own = await findOwnPeriod(query, payer_id, now);
  return {
    period_id,
    plan_id: own?.plan_id ?? null,
    plan_name,
    product_name,
    started_at,
    ended_at,
    grace_ends_at: new Date(secondAfter(period).getTime() + grace_sec * 1_000),
    /** Whether nothing follows it by itself. */
    is_trial: own?.subscription_id === null && own.is_sign_up,
    limits: enforcedLimits(period),
    points_included: includedPoints(period.description),
    usage: sumUsage([period]),
  };
}

function subscriptionAnswer(subscription: NamedSubscription, nextStart: Date) {
  const { plan_id, plan_name, billing_interval, cancel_at_period_end, team_slots_limit } = subscription;
  const { pending_plan_id, pending_plan_name, pending_interval } = subscription;
  const { following_plan_id, following_plan_name } = subscription;
  return {
    plan_id,
    plan_name,
    billing_interval,
    next_period_at: nextStart,
    cancel_at_period_end,
    pending:
      pending_plan_id === null || pending_plan_name === null || pending_interval === null
        ? null
        : { plan_id: pending_plan_id, plan_name: pending_plan_name, billing_interval: pending_interval },
    following:
      following_plan_id === null || following_plan_name === null
        ? null
        : { plan_id: following_plan_id, plan_name: following_plan_name },
    team_slots_limit,
  };
}

/** Null if the plan doesn't limit the team. */
async function slotsView(
  query: Query,
  accountId: number,
  subscription: NamedSubscription,
  { now, paidPlans }: { now: Date; paidPlans: PaidPlans | null },
) {
  const { subscription_id, plan_id, team_slots_limit, pending_team_slots_limit } = subscription;
  const [period, plan, membership] = await Promise.all([
    findOwnPeriod(query, accountId, now),
    findPlan(query, plan_id),
    findMembership(query, accountId),
  ]);
  const included = period === undefined ? null : limitsOf(period).team_slots_limit;
  if (included === null) return null;
  const taken = membership === undefined ? undefined : await countTaken(query, membership.team_id);
  const present = team_slots_limit ?? included;
  const charger = paidPlans === null ? 'operator' : await findCharger(query, subscription_id);
  const isCharged = paidPlans !== null && charger === 'stripe';
  const offered = isCharged
    ? await pricedSlots(query, paidPlans, plan, subscription)
    : offeredSlots(charger === 'operator' ? plan : undefined);
  const least = isCharged
    ? present - (await paidPlans.chargedSlots(query, subscription_id).catch(() => 0))
    : 0;
  return {
    used: taken === undefined ? 1 : taken.members + taken.pending,
    included,
    limit: present,
    least: Math.max(included, least),
    max: Math.max(included, offered.max, present),
    price: offered.price,
    is_charged: isCharged,
    pending_limit: pending_team_slots_limit,
  };
}

function offeredSlots(plan: Plan | undefined): { max: number; price: string | null } {
  if (plan === undefined || plan.public_position === null) return { max: 0, price: null };
  return { max: plan.team_slots_max ?? 0, price: plan.team_slot_price };
}

/** What Stripe charges needs a price for the subscription's interval, in its currency. */
async function pricedSlots(
  query: Query,
  paidPlans: PaidPlans,
  plan: Plan | undefined,
  subscription: NamedSubscription,
): Promise<{ max: number; price: string | null }> {
  const price = findPrice(await paidPlans.slotPrices(query), subscription);
  const currency = await paidPlans.currency(query, subscription.subscription_id);
  const isSold = price !== undefined && price.currency === currency;
  return isSold ? { ...offeredSlots(plan), price: price.text } : { max: 0, price: null };
}

/** The catalogue. With payments, plans that have a price, with a text that says it. */
export async function offeredPlans(query: Query, paidPlans: PaidPlans | null) {
  const plans = await listPublicPlans(query);
  if (paidPlans === null)
    return plans.map((plan) =>
      publicPlanAnswer(plan, { is_free: false, yearly_saving_percent: null, overage: null }),
    );
  const [prices, slotPrices] = [await paidPlans.prices(query), await paidPlans.slotPrices(query)];
  const priceOf = (plan_id: number, billing_interval: BillingInterval) =>
    findPrice(prices, { plan_id, billing_interval });
  const slotsOf = ({ plan_id, team_slots_max }: Plan) => {
    const sold = slotPrices.filter((price) => price.plan_id === plan_id).map(({ text }) => text);
    return sold.length === 0
      ? { team_slots_max: null }
      : { team_slots_max, team_slot_price: sold.join('; ') };
  };
  return plans
    .map((plan) => ({
      ...plan,
      price_month: priceOf(plan.plan_id, 'month')?.text ?? null,
      price_year: priceOf(plan.plan_id, 'year')?.text ?? null,
      ...slotsOf(plan),
    }))
    .filter(({ price_month, price_year }) => price_month !== null || price_year !== null)
    .map((plan) =>
      publicPlanAnswer(plan, {
        is_free: priceOf(plan.plan_id, 'month')?.unit_amount === 0,
        yearly_saving_percent: yearlySavingPercent(
          priceOf(plan.plan_id, 'month'),
          priceOf(plan.plan_id, 'year'),
        ),
        overage: overageOffer(overagePrice(plan.description)),
      }),
    );
}

/** Without payments, a price is only a text. */
type Sold = {
  is_free: boolean;
  yearly_saving_percent: number | null;
  overage: ReturnType<typeof overageOffer>;
};

/** As customers see a plan. */
function publicPlanAnswer(plan: Plan, { is_free, yearly_saving_percent, overage }: Sold) {
  const { plan_id, name, price_month, price_year, included, team_slot_price, team_slots_max } = plan;
  return {
    plan_id,
    name,
    prices: { month: price_month, year: price_year },
    is_free,
    yearly_saving_percent,
    included,
    limits: limitsOf(plan),
    points_per_call_limit: callRules(plan.description)?.points_per_call_limit ?? null,
    rollover_points_max: rolloverPointsMax(plan.description),
    overage,
    team_slots: team_slots_max === null ? null : { max: team_slots_max, price: team_slot_price },
  };
}
