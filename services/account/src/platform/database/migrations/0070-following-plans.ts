import type { Knex } from 'knex';

/** Free plans that follow a plan that is paid (docs/design/billing.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Of a subscription that is cancelled: the free plan that starts when it has ended, until that is done.
    ALTER TABLE subscriptions ADD COLUMN following_plan_id bigint;
    CREATE INDEX subscriptions_following_plan_id_idx ON subscriptions (ended_at) WHERE following_plan_id IS NOT NULL;
  `);
}

export const exceptions = {
  'subscriptions_following_plan_id_idx is a rule, or an index, that subscriptions did not have':
    'it is an index of rows that only this version makes, and allows all of them',
};
