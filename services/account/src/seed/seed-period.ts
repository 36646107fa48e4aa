import type { Knex } from 'knex';
import { onlyRow } from '../database/only-row.ts';

const PRODUCT_NAME = 'Data API';
const PLAN_NAME = 'Standard';

/** The sample plan's attributes. Time and traffic are left out: they are metered and not limited. */
const PLAN_DESCRIPTION = {
  points_limit: 1_000_000,
  rate_limit: 6_000,
  session_limit: 100,
  subscription_limit: 100,
  team_slots_limit: 5,
  billing_interval: 'month',
  support: 'e-mail',
};

/** Opens a billing period of one month from now, unless one covers the present or lies ahead. */
export async function seedPeriod(transaction: Knex, account_id: number): Promise<void> {
  const plan_id = await seedPlan(transaction);
  await transaction.raw(
    `INSERT INTO billing_periods
       (account_id, plan_id, plan_name, product_id, description, grace_sec, started_at, ended_at)
     SELECT :account_id, plan_id, name, product_id, description, grace_sec, start,
            -- Months are counted in UTC; the end is the last second before the next period.
            (start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' - interval '1 second'
     FROM plans, date_trunc('second', now()) AS start
     WHERE plan_id = :plan_id
       AND NOT EXISTS (
         SELECT FROM billing_periods WHERE account_id = :account_id AND ended_at >= start)`,
    { account_id, plan_id },
  );
}

/** The sample plan's id. A plan that is there already stays as it is: periods may stand on it. */
async function seedPlan(transaction: Knex): Promise<number> {
  const found = await transaction('plans')
    .where({ name: PLAN_NAME })
    .first<{ plan_id: number } | undefined>('plan_id');
  if (found !== undefined) return found.plan_id;
  const products = await transaction('products')
    .insert({ name: PRODUCT_NAME })
    .onConflict('name')
    // An update that changes nothing, so that the id of a row that is there already comes back.
    .merge(['name'])
    .returning<{ product_id: number }[]>('product_id');
  const plans = await transaction('plans')
    .insert({ name: PLAN_NAME, product_id: onlyRow(products).product_id, description: PLAN_DESCRIPTION })
    .returning<{ plan_id: number }[]>('plan_id');
  return onlyRow(plans).plan_id;
}
