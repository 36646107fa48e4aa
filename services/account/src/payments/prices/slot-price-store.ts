import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { NewPrice, PlanPrice } from './store.ts';

/** Of one additional slot, for subscribers of a plan and interval. */
export type SlotPrice = Omit<PlanPrice, 'plan_price_id'> & { team_slot_price_id: number };

const COLUMNS = `team_slot_price_id, plan_id, billing_interval, currency, unit_amount, tax_behavior, stripe_price_id`;

/** What slots cost that are bought now. */
export function listSlotPrices(query: Query): Promise<SlotPrice[]> {
  return query<SlotPrice>(
    `SELECT ${COLUMNS} FROM team_slot_prices WHERE withdrawn_at IS NULL ORDER BY plan_id, billing_interval`,
  );
}

type Sold = Pick<SlotPrice, 'plan_id' | 'billing_interval'>;

/** Undefined if the plan sells no slots for the interval. */
export async function findSlotPrice(
  query: Query,
  { plan_id, billing_interval }: Sold,
): Promise<SlotPrice | undefined> {
  const rows = await query<SlotPrice>(
    `SELECT ${COLUMNS} FROM team_slot_prices
     WHERE plan_id = :plan_id AND billing_interval = :billing_interval AND withdrawn_at IS NULL`,
    { plan_id, billing_interval },
  );
  return rows[0];
}

/** Also one that is withdrawn. */
export async function findLastSlotPrice(
  query: Query,
  { plan_id, billing_interval }: Sold,
): Promise<SlotPrice | undefined> {
  const rows = await query<SlotPrice>(
    `SELECT ${COLUMNS} FROM team_slot_prices
     WHERE plan_id = :plan_id AND billing_interval = :billing_interval
     ORDER BY withdrawn_at DESC NULLS FIRST, team_slot_price_id DESC LIMIT 1`,
    { plan_id, billing_interval },
  );
  return rows[0];
}

/** The plan's row is locked. */
export async function replaceSlotPrice(query: Query, wanted: NewPrice): Promise<SlotPrice> {
  await withdrawSlotPrice(query, wanted);
  const rows = await query<SlotPrice>(
    `INSERT INTO team_slot_prices (plan_id, billing_interval, currency, unit_amount, tax_behavior)
     VALUES (:plan_id, :billing_interval, :currency, :unit_amount, :tax_behavior) RETURNING ${COLUMNS}`,
    wanted,
  );
  return singleRow(rows);
}

/** False if there was none. */
export async function withdrawSlotPrice(query: Query, { plan_id, billing_interval }: Sold): Promise<boolean> {
  const rows = await query(
    `UPDATE team_slot_prices SET withdrawn_at = now()
     WHERE plan_id = :plan_id AND billing_interval = :billing_interval AND withdrawn_at IS NULL
     RETURNING team_slot_price_id`,
    { plan_id, billing_interval },
  );
  return rows.length > 0;
}

export async function setStripeSlotPrice(query: Query, slotPriceId: number, id: string): Promise<void> {
  await query('UPDATE team_slot_prices SET stripe_price_id = :id WHERE team_slot_price_id = :slotPriceId', {
    slotPriceId,
    id,
  });
}
