import { Problem } from '@tollgate/http/problem';
import { lockPlan } from '../../billing/plans/store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { findPrice, replacePrice, withdrawPrice } from './store.ts';
import type { NewPrice, PlanPrice } from './store.ts';

const NOBODYS = { application_id: null, account_id: null };

/** @throws {Problem} not_found */
export async function setPlanPrice(query: Query, wanted: NewPrice, by: Actor): Promise<PlanPrice> {
  const { plan_id, billing_interval, currency, unit_amount, tax_behavior } = wanted;
  await lockPlan(query, plan_id);
  const before = await findPrice(query, plan_id, billing_interval);
  const isSame =
    before?.currency === currency &&
    before.unit_amount === unit_amount &&
    before.tax_behavior === tax_behavior;
  if (isSame) return before;
  const price = await replacePrice(query, wanted);
  await recordAudit(query, { ...by, ...NOBODYS, action: 'plan_price_set', details: wanted });
  return price;
}

/** @throws {Problem} not_found */
export async function withdrawPlanPrice(
  query: Query,
  which: Pick<PlanPrice, 'plan_id' | 'billing_interval'>,
  by: Actor,
): Promise<void> {
  await lockPlan(query, which.plan_id);
  if (!(await withdrawPrice(query, which))) throw new Problem('not_found');
  await recordAudit(query, { ...by, ...NOBODYS, action: 'plan_price_withdrawn', details: which });
}
