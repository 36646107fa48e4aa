import { planPrices } from '../../payments/prices/store.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

const PRODUCT_NAME = 'Data API';

/** Of the sample account. */
const SAMPLE_PLAN = 'Standard';

type Entry = {
  public_position: number;
  price_month: string;
  /** The same in cents, for the payment page. */
  unit_amount: number;
  included: string[];
  /** Null if it sells no slots. */
  team_slots_max: number | null;
};

type SamplePlan = { name: string; description: Record<string, unknown>; entry: Entry | null };

/** Time and traffic are metered and not limited. */
const PLANS: readonly SamplePlan[] = [
  {
    // SIGN_UP_PLAN of `npm start` and of docker-compose.yml.
    name: 'Trial',
    description: {
      points_limit: 10_000,
      rate_limit: 60,
      session_limit: 5,
      subscription_limit: 5,
      team_slots_limit: 1,
    },
    entry: null,
  },
  {
    // Without points of its own: packs are all that it uses.
    name: 'Pay as you go',
    description: {
      points_limit: 0,
      rate_limit: 60,
      session_limit: 5,
      subscription_limit: 5,
      team_slots_limit: 1,
    },
    entry: {
      public_position: 5,
      price_month: 'Free',
      unit_amount: 0,
      included: ['Buy points when you need them'],
      team_slots_max: null,
    },
  },
  {
    name: 'Starter',
    description: {
      points_limit: 100_000,
      rate_limit: 600,
      session_limit: 20,
      subscription_limit: 20,
      team_slots_limit: 2,
    },
    entry: {
      public_position: 10,
      price_month: '€29 per month',
      unit_amount: 2_900,
      included: ['Support by email'],
      team_slots_max: 5,
    },
  },
  {
    name: SAMPLE_PLAN,
    description: {
      points_limit: 1_000_000,
      rate_limit: 6_000,
      session_limit: 100,
      subscription_limit: 100,
      team_slots_limit: 5,
      billing_interval: 'month',
      support: 'e-mail',
    },
    entry: {
      public_position: 20,
      price_month: '€199 per month',
      unit_amount: 19_900,
      included: ['Support by email within a day'],
      team_slots_max: 20,
    },
  },
  {
    name: 'Business',
    description: {
      points_limit: 10_000_000,
      rate_limit: 30_000,
      session_limit: 500,
      subscription_limit: 500,
      team_slots_limit: 25,
    },
    entry: {
      public_position: 30,
      price_month: '€990 per month',
      unit_amount: 99_000,
      included: ['Support by phone within two hours'],
      team_slots_max: 200,
    },
  },
];

/** Four public plans and a trial. Returns the plan of the sample account. */
export async function seedPlans(query: Query): Promise<number> {
  const productId = await seedProduct(query);
  const ids = new Map<string, number>();
  for (const plan of PLANS) ids.set(plan.name, await seedPlan(query, productId, plan));
  return ids.get(SAMPLE_PLAN) ?? 0;
}

async function seedProduct(query: Query): Promise<number> {
  // A no-op update, so that RETURNING gives the id of an existing row too.
  const products = await query<{ product_id: number }>(
    `INSERT INTO products (name) VALUES (:name)
     ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING product_id`,
    { name: PRODUCT_NAME },
  );
  return singleRow(products).product_id;
}

/** Keeps an existing plan and its entry in the catalogue, and makes the plan available. */
async function seedPlan(query: Query, product_id: number, plan: SamplePlan): Promise<number> {
  const { name, description, entry } = plan;
  const plans = await query<{ plan_id: number }>(
    `INSERT INTO plans (name, product_id, description) VALUES (:name, :product_id, :description)
     ON CONFLICT (name) DO UPDATE SET archived_at = NULL RETURNING plan_id`,
    { name, product_id, description: JSON.stringify(description) },
  );
  const { plan_id } = singleRow(plans);
  if (entry !== null) {
    await query(
      `UPDATE plans SET public_position = :public_position, price_month = :price_month,
         included = CAST(:included AS text[]),
         team_slot_price = CASE WHEN CAST(:team_slots_max AS integer) IS NOT NULL THEN '€9 per person and month' END,
         team_slots_max = :team_slots_max
       WHERE plan_id = :plan_id AND price_month IS NULL AND price_year IS NULL`,
      { ...entry, plan_id },
    );
  }
  if (
    entry !== null &&
    (await planPrices.find(query, { plan_id, billing_interval: 'month' })) === undefined
  ) {
    const { unit_amount } = entry;
    const price = { currency: 'eur', unit_amount, tax_behavior: 'exclusive' } as const;
    await planPrices.replace(query, { plan_id, billing_interval: 'month', ...price });
  }
  return plan_id;
}
