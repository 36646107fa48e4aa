import type { BillingInterval } from '../../billing/periods/calendar.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';

/** What subscribers of a plan and interval pay for something. */
export type Price = {
  plan_id: number;
  billing_interval: BillingInterval;
  currency: string;
  /** In Stripe's minor unit. */
  unit_amount: number;
  tax_behavior: 'exclusive' | 'inclusive';
  /** Null until it is first needed. */
  stripe_price_id: string | null;
};

export type NewPrice = Omit<Price, 'stripe_price_id'>;

/** Of the plan itself. */
export type PlanPrice = Price & { plan_price_id: number };

/** Of one additional team slot. */
export type SlotPrice = Price & { team_slot_price_id: number };

export type Sold = Pick<Price, 'plan_id' | 'billing_interval'>;

/** It renews without Stripe (docs/design/billing.md). */
export function isFree({ unit_amount }: Pick<Price, 'unit_amount'>): boolean {
  return unit_amount === 0;
}

const COLUMNS = 'plan_id, billing_interval, currency, unit_amount, tax_behavior, stripe_price_id';

const PLAN_COLUMNS = `plan_price_id, ${COLUMNS}`;

export const planPrices = priceTable<PlanPrice>('plan_prices', PLAN_COLUMNS, 'plan_price_id');

export const slotPrices = priceTable<SlotPrice>(
  'team_slot_prices',
  `team_slot_price_id, ${COLUMNS}`,
  'team_slot_price_id',
);

export type PriceTable<Row extends Price> = {
  /** What is paid by those who buy now. */
  list: (query: Query) => Promise<Row[]>;
  /** Undefined if it isn't sold. */
  find: (query: Query, sold: Sold) => Promise<Row | undefined>;
  /** Also one that is withdrawn. */
  findLast: (query: Query, sold: Sold) => Promise<Row | undefined>;
  /** The plan's row is locked. */
  replace: (query: Query, wanted: NewPrice) => Promise<Row>;
  /** False if there was none. */
  withdraw: (query: Query, sold: Sold) => Promise<boolean>;
  setStripePrice: (query: Query, price: Row, stripePriceId: string) => Promise<void>;
  idOf: (price: Row) => number;
};

function priceTable<Row extends Price>(
  table: 'plan_prices' | 'team_slot_prices',
  columns: string,
  id: keyof Row & string,
): PriceTable<Row> {
  const idOf = (price: Row) => Number(price[id]);

  async function withdraw(query: Query, { plan_id, billing_interval }: Sold): Promise<boolean> {
    const rows = await query(
      `UPDATE ${table} SET withdrawn_at = now()
       WHERE plan_id = :plan_id AND billing_interval = :billing_interval AND withdrawn_at IS NULL
       RETURNING ${id}`,
      { plan_id, billing_interval },
    );
    return rows.length > 0;
  }

  return {
    list: (query) =>
      query<Row>(
        `SELECT ${columns} FROM ${table} WHERE withdrawn_at IS NULL ORDER BY plan_id, billing_interval`,
      ),
    find: async (query, { plan_id, billing_interval }) => {
      const rows = await query<Row>(
        `SELECT ${columns} FROM ${table}
         WHERE plan_id = :plan_id AND billing_interval = :billing_interval AND withdrawn_at IS NULL`,
        { plan_id, billing_interval },
      );
      return rows[0];
    },
    findLast: async (query, { plan_id, billing_interval }) => {
      const rows = await query<Row>(
        `SELECT ${columns} FROM ${table} WHERE plan_id = :plan_id AND billing_interval = :billing_interval
         ORDER BY withdrawn_at DESC NULLS FIRST, ${id} DESC LIMIT 1`,
        { plan_id, billing_interval },
      );
      return rows[0];
    },
    replace: async (query, wanted) => {
      await withdraw(query, wanted);
      const rows = await query<Row>(
        `INSERT INTO ${table} (plan_id, billing_interval, currency, unit_amount, tax_behavior)
         VALUES (:plan_id, :billing_interval, :currency, :unit_amount, :tax_behavior) RETURNING ${columns}`,
        wanted,
      );
      return singleRow(rows);
    },
    withdraw,
    setStripePrice: async (query, price, stripePriceId) => {
      await query(`UPDATE ${table} SET stripe_price_id = :stripePriceId WHERE ${id} = :priceId`, {
        priceId: idOf(price),
        stripePriceId,
      });
    },
    idOf,
  };
}

/** That of a planned change which was confirmed with it. Undefined if it was for another plan or interval. */
export async function findPlannedPrice(
  query: Query,
  checkoutId: number,
  { plan_id, billing_interval }: Sold,
): Promise<PlanPrice | undefined> {
  const rows = await query<PlanPrice>(
    `SELECT ${PLAN_COLUMNS} FROM plan_prices
     WHERE plan_price_id = (
         SELECT pending_plan_price_id FROM stripe_subscriptions WHERE checkout_id = :checkoutId)
       AND plan_id = :plan_id AND billing_interval = :billing_interval`,
    { checkoutId, plan_id, billing_interval },
  );
  return rows[0];
}

/** Undefined if it is none of ours. */
export async function findPriceByStripeId(
  query: Query,
  stripePriceId: string,
): Promise<PlanPrice | undefined> {
  const rows = await query<PlanPrice>(
    `SELECT ${PLAN_COLUMNS} FROM plan_prices WHERE stripe_price_id = :stripePriceId`,
    { stripePriceId },
  );
  return rows[0];
}
