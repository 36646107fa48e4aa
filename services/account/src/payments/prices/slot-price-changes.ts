import { Problem } from '@tollgate/http/problem';
import { lockPlan } from '../../billing/plans/store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import type { NewPrice } from './store.ts';
import { findSlotPrice, replaceSlotPrice, withdrawSlotPrice } from './slot-price-store.ts';
import type { SlotPrice } from './slot-price-store.ts';

const NOBODYS = { application_id: null, account_id: null };

/** @throws {Problem} not_found */
export async function setSlotPrice(query: Query, wanted: NewPrice, by: Actor): Promise<SlotPrice> {
  const { plan_id, currency, unit_amount, tax_behavior } = wanted;
  await lockPlan(query, plan_id);
  const before = await findSlotPrice(query, wanted);
  const isSame =
    before?.currency === currency &&
    before.unit_amount === unit_amount &&
    before.tax_behavior === tax_behavior;
  if (isSame) return before;
  const price = await replaceSlotPrice(query, wanted);
  await recordAudit(query, { ...by, ...NOBODYS, action: 'team_slot_price_set', details: wanted });
  return price;
}

/** @throws {Problem} not_found */
export async function withdrawPriceOfSlots(
  query: Query,
  which: Pick<SlotPrice, 'plan_id' | 'billing_interval'>,
  by: Actor,
): Promise<void> {
  await lockPlan(query, which.plan_id);
  if (!(await withdrawSlotPrice(query, which))) throw new Problem('not_found');
  await recordAudit(query, { ...by, ...NOBODYS, action: 'team_slot_price_withdrawn', details: which });
}
