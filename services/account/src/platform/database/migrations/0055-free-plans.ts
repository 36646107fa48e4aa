import type { Knex } from 'knex';

/** Plans that cost nothing, which customers choose without Stripe (docs/design/billing.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE plan_prices DROP CONSTRAINT plan_prices_unit_amount_check;
    -- 0 is a free plan.
    ALTER TABLE plan_prices ADD CONSTRAINT plan_prices_unit_amount_check CHECK (unit_amount BETWEEN 0 AND 99999999);

    -- The plan that was chosen for nothing; another one since then is an operator's change.
    ALTER TABLE subscriptions ADD COLUMN free_plan_id bigint;
  `);
}

export const exceptions = {
  'plan_prices_unit_amount_check is a rule, or an index, that plan_prices did not have':
    'it takes the place of one of the same name, and allows all that this allowed',
};
