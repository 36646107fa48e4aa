import { createHash } from 'node:crypto';
import type { BillingInterval } from '../billing/periods/calendar.ts';
import type { Plan } from '../billing/plans/store.ts';
import type { Pack } from '../payments/packs/store.ts';
import { planPrices, slotPrices } from '../payments/prices/store.ts';
import type { Price } from '../payments/prices/store.ts';
import type { Query } from '../platform/database/query.ts';

export type StatedProduct = { product_id: number; key: string; name: string; managed: boolean };
type StatedPrice = Pick<Price, 'currency' | 'unit_amount' | 'tax_behavior'>;
export type StatedPrices = Partial<Record<BillingInterval, StatedPrice>>;
export type StatedPlan = Omit<Plan, 'created_at' | 'archived_at'> & {
  is_archived: boolean;
  managed: boolean;
  prices: StatedPrices;
  /** Of an additional team slot. */
  team_slot_prices: StatedPrices;
};
export type StatedPack = Pick<
  Pack,
  'pack_id' | 'key' | 'name' | 'points' | 'currency' | 'unit_amount' | 'tax_behavior' | 'expires_after_days'
> & { managed: boolean };

/** What is there, in the order of creation. Packs that were withdrawn aren't: nothing can be said of them any more. */
export type PlansState = { products: StatedProduct[]; plans: StatedPlan[]; packs: StatedPack[] };

/** Two applies at a time: the second waits, and then reads what the first has left. */
export async function lockPlans(query: Query): Promise<void> {
  await query("SELECT pg_advisory_xact_lock(hashtextextended('plans-as-code', 0))");
  // Changes by other operations wait, too.
  await query('SELECT 1 FROM products ORDER BY product_id FOR NO KEY UPDATE');
  await query('SELECT 1 FROM plans ORDER BY plan_id FOR UPDATE');
  await query('SELECT 1 FROM packs WHERE withdrawn_at IS NULL ORDER BY pack_id FOR UPDATE');
}

export async function readPlans(query: Query): Promise<PlansState> {
  const products = await query<StatedProduct>(
    'SELECT product_id, key, name, managed FROM products ORDER BY product_id',
  );
  const plans = await query<Omit<StatedPlan, 'prices' | 'team_slot_prices'>>(
    `SELECT plan_id, key, name, product_id, description, grace_sec, archived_at IS NOT NULL AS is_archived,
       public_position, price_month, price_year, included, team_slot_price, team_slots_max, managed
     FROM plans ORDER BY plan_id`,
  );
  const prices = await planPrices.list(query);
  const ofSlots = await slotPrices.list(query);
  const packs = await query<StatedPack>(
    `SELECT pack_id, key, name, points, currency, unit_amount, tax_behavior, expires_after_days, managed
     FROM packs WHERE withdrawn_at IS NULL ORDER BY pack_id`,
  );
  return {
    products,
    plans: plans.map((plan) => ({
      ...plan,
      prices: pricesOf(plan, prices),
      team_slot_prices: pricesOf(plan, ofSlots),
    })),
    packs,
  };
}

function pricesOf({ plan_id }: Pick<Plan, 'plan_id'>, prices: readonly Price[]): StatedPrices {
  return Object.fromEntries(
    prices
      .filter((price) => price.plan_id === plan_id)
      .map(({ billing_interval, currency, unit_amount, tax_behavior }) => [
        billing_interval,
        { currency, unit_amount, tax_behavior },
      ]),
  );
}

/** Changes with anything that a file could have changed. */
export function digestOf(state: PlansState): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('hex');
}
