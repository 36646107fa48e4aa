import type { Actor } from '../../platform/audit/audit-log.ts';
import { hasPeriodFrom } from '../../billing/periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import { createSubscription } from '../../billing/subscriptions/changes.ts';
import { lockLiveSubscription } from '../../billing/subscriptions/store.ts';

const PRODUCT_NAME = 'Data API';
const PLAN_NAME = 'Standard';

/** Without time and traffic, which are metered and not limited. */
const PLAN_DESCRIPTION = {
  points_limit: 1_000_000,
  rate_limit: 6_000,
  session_limit: 100,
  subscription_limit: 100,
  team_slots_limit: 5,
  billing_interval: 'month',
  support: 'e-mail',
};

/** The actor in the audit log. */
const SEED: Actor = { actor: 'seed', address: 'none', request_id: 'none' };

/** Monthly, unless the account has a subscription. An existing period runs out first. */
export async function seedSubscription(query: Query, account_id: number): Promise<void> {
  const plan_id = await seedPlan(query);
  const live = await lockLiveSubscription(query, account_id);
  if (live !== undefined || (await hasPeriodFrom(query, account_id, await databaseNow(query)))) return;
  const wanted = { account_id, plan_id, billing_interval: 'month' as const, team_slots_limit: null };
  await createSubscription(query, wanted, SEED);
}

/** Keeps an existing plan, and makes it available. */
async function seedPlan(query: Query): Promise<number> {
  const [found] = await query<{ plan_id: number }>('SELECT plan_id FROM plans WHERE name = :name', {
    name: PLAN_NAME,
  });
  if (found !== undefined) {
    await query('UPDATE plans SET archived_at = NULL WHERE plan_id = :plan_id', found);
    return found.plan_id;
  }
  // A no-op update, so that RETURNING gives the id of an existing row too.
  const products = await query<{ product_id: number }>(
    `INSERT INTO products (name) VALUES (:name)
     ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING product_id`,
    { name: PRODUCT_NAME },
  );
  const plans = await query<{ plan_id: number }>(
    `INSERT INTO plans (name, product_id, description) VALUES (:name, :product_id, :description)
     RETURNING plan_id`,
    { name: PLAN_NAME, ...singleRow(products), description: JSON.stringify(PLAN_DESCRIPTION) },
  );
  return singleRow(plans).plan_id;
}
