import type { Knex } from 'knex';

/** Accounts that get the plan of SIGN_UP_PLAN, each once (ADR 0053). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE TABLE sign_up_plans (
      account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now(),
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      -- Null until the plan has started, or the account needed none.
      settled_at timestamptz,
      -- The first period of the plan; null if the account needed none.
      period_id bigint REFERENCES billing_periods ON DELETE SET NULL
    );
    CREATE INDEX sign_up_plans_pending_idx ON sign_up_plans (next_attempt_at) WHERE settled_at IS NULL;
    -- Periods opened ahead are deleted often, which looks for this reference.
    CREATE INDEX sign_up_plans_period_id_idx ON sign_up_plans (period_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE sign_up_plans');
}
