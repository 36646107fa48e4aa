import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { overagePrice } from '../../billing/periods/limits.ts';
import { lockPlan } from '../../billing/plans/store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import { isFree, planPrices, slotPrices } from './store.ts';
import type { NewPrice, PlanPrice, Price, PriceTable, SlotPrice, Sold } from './store.ts';

/** What operators set the price of, and what the audit log calls that. */
type Sale<Row extends Price> = {
  prices: PriceTable<Row>;
  setAs: AuditEntry['action'];
  withdrawnAs: AuditEntry['action'];
};

export const PLANS: Sale<PlanPrice> = {
  prices: planPrices,
  setAs: 'plan_price_set',
  withdrawnAs: 'plan_price_withdrawn',
};

export const TEAM_SLOTS: Sale<SlotPrice> = {
  prices: slotPrices,
  setAs: 'team_slot_price_set',
  withdrawnAs: 'team_slot_price_withdrawn',
};

const FIGURES = ['currency', 'unit_amount', 'tax_behavior'] as const;

const NOBODYS = { application_id: null, account_id: null };

/**
 * Slots are charged with their plan, so their price has its currency.
 * @throws {Problem} not_found; invalid_request for the currency
 */
export async function setSlotPrice(query: Query, wanted: NewPrice, by: Actor): Promise<SlotPrice> {
  await lockPlan(query, wanted.plan_id);
  const plan = await planPrices.find(query, wanted);
  if (plan !== undefined && plan.currency !== wanted.currency) {
    const message = `must be ${plan.currency}, which the plan is sold in`;
    throw invalidFields([{ field: 'currency', message }]);
  }
  return setPrice(query, TEAM_SLOTS, wanted, by);
}

/**
 * What is charged with a plan, slots and further points, has its currency.
 * @throws {Problem} not_found; invalid_request for the currency, or for a free plan by the year
 */
export async function setPlanPrice(query: Query, wanted: NewPrice, by: Actor): Promise<PlanPrice> {
  if (isFree(wanted) && wanted.billing_interval !== 'month') {
    throw invalidFields([{ field: 'unit_amount', message: 'can be 0 by the month only' }]);
  }
  const { description } = await lockPlan(query, wanted.plan_id);
  const slots = await slotPrices.find(query, wanted);
  if (slots !== undefined && slots.currency !== wanted.currency) {
    const message = `must be ${slots.currency}, which the plan's team slots are sold in, or withdraw their price first`;
    throw invalidFields([{ field: 'currency', message }]);
  }
  const overage = overagePrice(description);
  if (overage !== null && overage.currency !== wanted.currency) {
    const message = `must be ${overage.currency}, which the plan's further points (overage) are sold in, or remove them first`;
    throw invalidFields([{ field: 'currency', message }]);
  }
  return setPrice(query, PLANS, wanted, by);
}

async function setPrice<Row extends Price>(
  query: Query,
  { prices, setAs: action }: Sale<Row>,
  wanted: NewPrice,
  by: Actor,
): Promise<Row> {
  const { plan_id, currency, unit_amount, tax_behavior } = wanted;
  await lockPlan(query, plan_id);
  const before = await prices.find(query, wanted);
  const isSame =
    before?.currency === currency &&
    before.unit_amount === unit_amount &&
    before.tax_behavior === tax_behavior;
  if (isSame) return before;
  const price = await prices.replace(query, wanted);
  const change = changeOf(FIGURES, before ?? null, price);
  await recordAudit(query, { ...by, ...NOBODYS, action, details: wanted, change });
  return price;
}

/** @throws {Problem} not_found */
export async function withdrawPrice<Row extends Price>(
  query: Query,
  { prices, withdrawnAs: action }: Sale<Row>,
  sold: Sold,
  by: Actor,
): Promise<void> {
  await lockPlan(query, sold.plan_id);
  const before = await prices.find(query, sold);
  if (before === undefined) throw new Problem('not_found');
  await prices.withdraw(query, sold);
  const change = changeOf(FIGURES, before, null);
  await recordAudit(query, { ...by, ...NOBODYS, action, details: sold, change });
}
