import type { BillingInterval } from '../../billing/periods/calendar.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

export type PlanPrice = {
  plan_price_id: number;
  plan_id: number;
  billing_interval: BillingInterval;
  currency: string;
  /** In Stripe's minor unit. */
  unit_amount: number;
  tax_behavior: 'exclusive' | 'inclusive';
  /** Null until it is first needed. */
  stripe_price_id: string | null;
};

export type NewPrice = Omit<PlanPrice, 'plan_price_id' | 'stripe_price_id'>;

const COLUMNS = `plan_price_id, plan_id, billing_interval, currency, unit_amount, tax_behavior, stripe_price_id`;

/** What new subscribers pay. */
export function listPrices(query: Query): Promise<PlanPrice[]> {
  return query<PlanPrice>(
    `SELECT ${COLUMNS} FROM plan_prices WHERE withdrawn_at IS NULL ORDER BY plan_id, billing_interval`,
  );
}

export async function findPrice(
  query: Query,
  planId: number,
  interval: BillingInterval,
): Promise<PlanPrice | undefined> {
  const rows = await query<PlanPrice>(
    `SELECT ${COLUMNS} FROM plan_prices
     WHERE plan_id = :planId AND billing_interval = :interval AND withdrawn_at IS NULL`,
    { planId, interval },
  );
  return rows[0];
}

/** That of a planned change which was confirmed with it. Undefined if it was for another plan or interval. */
export async function findPlannedPrice(
  query: Query,
  checkoutId: number,
  { plan_id, billing_interval }: Pick<PlanPrice, 'plan_id' | 'billing_interval'>,
): Promise<PlanPrice | undefined> {
  const rows = await query<PlanPrice>(
    `SELECT ${COLUMNS} FROM plan_prices
     WHERE plan_price_id = (
         SELECT pending_plan_price_id FROM stripe_subscriptions WHERE checkout_id = :checkoutId)
       AND plan_id = :plan_id AND billing_interval = :billing_interval`,
    { checkoutId, plan_id, billing_interval },
  );
  return rows[0];
}

/** Also one that is withdrawn. */
export async function findLastPrice(
  query: Query,
  planId: number,
  interval: BillingInterval,
): Promise<PlanPrice | undefined> {
  const rows = await query<PlanPrice>(
    `SELECT ${COLUMNS} FROM plan_prices WHERE plan_id = :planId AND billing_interval = :interval
     ORDER BY withdrawn_at DESC NULLS FIRST, plan_price_id DESC LIMIT 1`,
    { planId, interval },
  );
  return rows[0];
}

/** Undefined if it is none of ours. */
export async function findPriceByStripeId(
  query: Query,
  stripePriceId: string,
): Promise<PlanPrice | undefined> {
  const rows = await query<PlanPrice>(
    `SELECT ${COLUMNS} FROM plan_prices WHERE stripe_price_id = :stripePriceId`,
    { stripePriceId },
  );
  return rows[0];
}

/** The plan's row is locked. */
export async function replacePrice(query: Query, wanted: NewPrice): Promise<PlanPrice> {
  await withdrawPrice(query, wanted);
  const rows = await query<PlanPrice>(
    `INSERT INTO plan_prices (plan_id, billing_interval, currency, unit_amount, tax_behavior)
     VALUES (:plan_id, :billing_interval, :currency, :unit_amount, :tax_behavior) RETURNING ${COLUMNS}`,
    wanted,
  );
  return singleRow(rows);
}

/** False if there was none. */
export async function withdrawPrice(
  query: Query,
  { plan_id, billing_interval }: Pick<PlanPrice, 'plan_id' | 'billing_interval'>,
): Promise<boolean> {
  const rows = await query(
    `UPDATE plan_prices SET withdrawn_at = now()
     WHERE plan_id = :plan_id AND billing_interval = :billing_interval AND withdrawn_at IS NULL
     RETURNING plan_price_id`,
    { plan_id, billing_interval },
  );
  return rows.length > 0;
}

export async function setStripePrice(query: Query, planPriceId: number, id: string): Promise<void> {
  await query('UPDATE plan_prices SET stripe_price_id = :id WHERE plan_price_id = :planPriceId', {
    planPriceId,
    id,
  });
}
