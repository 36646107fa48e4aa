import type { Knex } from 'knex';

/** Subscriptions, and what the operators' lists need. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Runs on for who has it; nobody else gets it any more.
    ALTER TABLE plans ADD COLUMN archived_at timestamptz;

    CREATE TABLE subscriptions (
      subscription_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      plan_id bigint NOT NULL REFERENCES plans,
      billing_interval text NOT NULL CHECK (billing_interval IN ('month', 'year')),
      -- The day of purchase. Every period is counted from it, never from the period before.
      anchor timestamptz(0) NOT NULL,
      -- An add-on that every period of the subscription gets.
      team_slots_limit integer CHECK (team_slots_limit >= 0),
      -- What the next period is to be, where that is something else.
      pending_plan_id bigint REFERENCES plans,
      pending_interval text CHECK (pending_interval IN ('month', 'year')),
      cancel_at_period_end boolean NOT NULL DEFAULT false,
      -- The start of the next period that is not opened yet.
      renews_at timestamptz(0) NOT NULL,
      -- Moved on where a renewal fails, so that it holds up no other.
      next_attempt_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz(0),
      created_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((pending_plan_id IS NULL) = (pending_interval IS NULL))
    );
    CREATE UNIQUE INDEX subscriptions_live_key ON subscriptions (account_id) WHERE ended_at IS NULL;
    CREATE INDEX subscriptions_account_id_idx ON subscriptions (account_id, subscription_id);
    CREATE INDEX subscriptions_plan_id_idx ON subscriptions (plan_id, subscription_id);
    CREATE INDEX subscriptions_renews_at_idx ON subscriptions (renews_at) WHERE ended_at IS NULL;

    -- Null for a period that was made by hand.
    ALTER TABLE billing_periods ADD COLUMN subscription_id bigint REFERENCES subscriptions;
    CREATE INDEX billing_periods_subscription_id_idx ON billing_periods (subscription_id, started_at);
    CREATE INDEX billing_periods_plan_id_idx ON billing_periods (plan_id, started_at);
    CREATE INDEX billing_periods_account_id_idx ON billing_periods (account_id, period_id);

    CREATE INDEX audit_log_account_id_audit_id_idx ON audit_log (account_id, audit_id);
    CREATE INDEX audit_log_application_id_audit_id_idx ON audit_log (application_id, audit_id);
    CREATE INDEX audit_log_actor_audit_id_idx ON audit_log (actor, audit_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP INDEX audit_log_account_id_audit_id_idx, audit_log_application_id_audit_id_idx,
      audit_log_actor_audit_id_idx, billing_periods_plan_id_idx, billing_periods_account_id_idx;
    ALTER TABLE billing_periods DROP COLUMN subscription_id;
    DROP TABLE subscriptions;
    ALTER TABLE plans DROP COLUMN archived_at;
  `);
}
