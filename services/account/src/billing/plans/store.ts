import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { singleRow } from '../../platform/database/single-row.ts';
import { isUniqueViolation } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import type { Page } from '../../http/input/page.ts';

export type Plan = {
  plan_id: number;
  /** What files name it by. */
  key: string;
  name: string;
  product_id: number | null;
  description: Record<string, unknown>;
  grace_sec: number;
  archived_at: Date | null;
  /** Null if the plan is not in the catalogue. */
  public_position: number | null;
  /** An interval without a price text is not offered. */
  price_month: string | null;
  price_year: string | null;
  included: string[];
  team_slot_price: string | null;
  /** Null if no additional team slots are offered. */
  team_slots_max: number | null;
  /** Whether a file has made or named it (docs/plans-as-code.md). */
  managed: boolean;
  created_at: Date;
};

export type Product = { product_id: number; key: string; name: string; created_at: Date };

type PlanMembers = Pick<Plan, 'name' | 'product_id' | 'description' | 'grace_sec'>;

const PLAN_COLUMNS = `plan_id, key, name, product_id, description, grace_sec, archived_at, public_position, price_month,
  price_year, included, team_slot_price, team_slots_max, managed, created_at`;
const PRODUCT_COLUMNS = 'product_id, key, name, created_at';

/** @throws {Problem} name_taken */
export async function insertPlan(query: Query, made: PlanMembers): Promise<Plan> {
  const rows = await unlessTaken(
    query<Plan>(
      `INSERT INTO plans (name, product_id, description, grace_sec)
       VALUES (:name, :product_id, :description, :grace_sec) RETURNING ${PLAN_COLUMNS}`,
      { ...made, description: JSON.stringify(made.description) },
    ),
  );
  return singleRow(rows);
}

/** @throws {Problem} name_taken */
export async function storePlan(query: Query, changed: Plan): Promise<void> {
  await unlessTaken(
    query(
      `UPDATE plans SET name = :name, product_id = :product_id, description = :description,
         grace_sec = :grace_sec, archived_at = :archived_at, public_position = :public_position,
         price_month = :price_month, price_year = :price_year, included = CAST(:included AS text[]),
         team_slot_price = :team_slot_price, team_slots_max = :team_slots_max
       WHERE plan_id = :plan_id`,
      { ...changed, description: JSON.stringify(changed.description) },
    ),
  );
}

/** What new subscribers of a plan pay in, for whichever interval. */
export async function listCurrencies(query: Query, planId: number): Promise<string[]> {
  const rows = await query<{ currency: string }>(
    'SELECT DISTINCT currency FROM plan_prices WHERE plan_id = :planId AND withdrawn_at IS NULL',
    { planId },
  );
  return rows.map(({ currency }) => currency);
}

/** A period opened ahead copies its plan when it starts, not before. */
export async function refreshUnstartedPeriods(query: Query, planId: number): Promise<void> {
  await query(
    `UPDATE billing_periods SET plan_name = plans.name, product_id = plans.product_id,
       description = plans.description, grace_sec = plans.grace_sec
     FROM plans
     WHERE plans.plan_id = :planId AND billing_periods.plan_id = plans.plan_id
       AND subscription_id IS NOT NULL AND started_at > clock_timestamp()`,
    { planId },
  );
}

export async function findPlan(query: Query, planId: number): Promise<Plan | undefined> {
  const rows = await query<Plan>(`SELECT ${PLAN_COLUMNS} FROM plans WHERE plan_id = :planId`, { planId });
  return rows[0];
}

/** @throws {Problem} not_found */
export async function lockPlan(query: Query, planId: number): Promise<Plan> {
  const rows = await query<Plan>(`SELECT ${PLAN_COLUMNS} FROM plans WHERE plan_id = :planId FOR UPDATE`, {
    planId,
  });
  const [found] = rows;
  if (found === undefined) throw new Problem('not_found');
  return found;
}

export async function lockPlanForShare(query: Query, planId: number): Promise<Plan | undefined> {
  const rows = await query<Plan>(`SELECT ${PLAN_COLUMNS} FROM plans WHERE plan_id = :planId FOR SHARE`, {
    planId,
  });
  return rows[0];
}

/** For a new subscription or period. @throws {Problem} plan_archived; invalid_request for an unknown plan */
export async function lockOfferedPlan(query: Query, planId: number): Promise<Plan> {
  const plan = await lockPlanForShare(query, planId);
  if (plan === undefined) throw invalidFields([{ field: 'plan_id', message: 'there is no such plan' }]);
  if (plan.archived_at !== null) throw new Problem('plan_archived');
  return plan;
}

export function listPlans(
  query: Query,
  wantedPlans: {
    product_id?: number | undefined;
    archived?: boolean | undefined;
    public?: boolean | undefined;
  },
  { limit, before }: Page,
): Promise<Plan[]> {
  const { product_id, archived, public: isPublic } = wantedPlans;
  const wanted = [
    ...(product_id === undefined ? [] : ['product_id = :product_id']),
    ...(archived === undefined ? [] : [`archived_at IS ${archived ? 'NOT ' : ''}NULL`]),
    ...(isPublic === undefined ? [] : [`public_position IS ${isPublic ? 'NOT ' : ''}NULL`]),
  ];
  return query<Plan>(
    `SELECT ${PLAN_COLUMNS} FROM plans
     WHERE ${['plan_id < :before', ...wanted].join(' AND ')} ORDER BY plan_id DESC LIMIT :limit`,
    { product_id: product_id ?? null, limit, before },
  );
}

/** The catalogue, in its order. */
export function listPublicPlans(query: Query): Promise<Plan[]> {
  return query<Plan>(
    `SELECT ${PLAN_COLUMNS} FROM plans WHERE public_position IS NOT NULL AND archived_at IS NULL
     ORDER BY public_position, plan_id`,
  );
}

/** @throws {Problem} name_taken */
export async function insertProduct(query: Query, name: string): Promise<Product> {
  const rows = await unlessTaken(
    query<Product>(`INSERT INTO products (name) VALUES (:name) RETURNING ${PRODUCT_COLUMNS}`, { name }),
  );
  return singleRow(rows);
}

/** @throws {Problem} name_taken */
export async function renameProduct(query: Query, productId: number, name: string): Promise<void> {
  await unlessTaken(
    query('UPDATE products SET name = :name WHERE product_id = :productId', { productId, name }),
  );
}

export async function findProduct(query: Query, productId: number): Promise<Product | undefined> {
  const rows = await query<Product>(`SELECT ${PRODUCT_COLUMNS} FROM products WHERE product_id = :productId`, {
    productId,
  });
  return rows[0];
}

/** @throws {Problem} not_found */
export async function lockProduct(query: Query, productId: number): Promise<Product> {
  const rows = await query<Product>(
    `SELECT ${PRODUCT_COLUMNS} FROM products WHERE product_id = :productId FOR NO KEY UPDATE`,
    { productId },
  );
  const [found] = rows;
  if (found === undefined) throw new Problem('not_found');
  return found;
}

export function listProducts(query: Query, { limit, before }: Page): Promise<Product[]> {
  return query<Product>(
    `SELECT ${PRODUCT_COLUMNS} FROM products WHERE product_id < :before ORDER BY product_id DESC LIMIT :limit`,
    { limit, before },
  );
}

async function unlessTaken<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    if (isUniqueViolation(error)) throw new Problem('name_taken', { cause: error });
    throw error;
  }
}
