import type { Knex } from 'knex';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { hasPeriodFrom } from '../../billing/periods/period-store.ts';
import { databaseNow } from '../../platform/database/clock.ts';
import { onlyRow } from '../../platform/database/only-row.ts';
import { createQuery } from '../../platform/database/query.ts';
import { createSubscription } from '../../billing/subscriptions/changes.ts';
import { lockLiveSubscription } from '../../billing/subscriptions/store.ts';

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

/** Who has made what the audit log tells of. */
const SEED: Actor = { actor: 'seed', address: 'none', request_id: 'none' };

/**
 * Subscribes an account to the sample plan by the month, unless it has a subscription. A period that an earlier
 * version made by hand runs out first.
 */
export async function seedSubscription(transaction: Knex, account_id: number): Promise<void> {
  const plan_id = await seedPlan(transaction);
  const query = createQuery(transaction);
  const live = await lockLiveSubscription(query, account_id);
  if (live !== undefined || (await hasPeriodFrom(query, account_id, await databaseNow(query)))) return;
  const wanted = { account_id, plan_id, billing_interval: 'month' as const, team_slots_limit: null };
  await createSubscription(query, wanted, SEED);
}

/** The sample plan's id. A plan that is there already stays as it is, but for being offered. */
async function seedPlan(transaction: Knex): Promise<number> {
  const found = await transaction('plans')
    .where({ name: PLAN_NAME })
    .first<{ plan_id: number } | undefined>('plan_id');
  if (found !== undefined) {
    await transaction('plans').where(found).update({ archived_at: null });
    return found.plan_id;
  }
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
