import type { Knex } from 'knex';

/** Changes of plan within a billing period (docs/design/billing.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- What a period was sold as, before its plan changed in place.
    CREATE TABLE period_plans (
      period_plan_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      period_id bigint NOT NULL REFERENCES billing_periods ON DELETE CASCADE,
      plan_id bigint NOT NULL REFERENCES plans,
      plan_name text NOT NULL,
      product_id bigint REFERENCES products,
      description plan_description NOT NULL,
      grace_sec integer NOT NULL CHECK (grace_sec >= 0),
      -- When another plan took its place.
      replaced_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX period_plans_period_id_idx ON period_plans (period_id);
    CREATE INDEX period_plans_plan_id_idx ON period_plans (plan_id);

    -- Another limit may pass thresholds of alerts, or lie above those that were passed.
    CREATE FUNCTION period_plans_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO usage_alert_checks (period_id) SELECT DISTINCT period_id FROM new_rows;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER period_plans_alerts_added AFTER INSERT ON period_plans
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION period_plans_alerts();

    -- The price at Stripe that is known here: only another one is a change that was made there. Null until it is read.
    ALTER TABLE stripe_subscriptions ADD COLUMN stripe_price_id text
      CHECK (char_length(stripe_price_id) BETWEEN 1 AND 255);
    -- The price that a planned change was confirmed with.
    ALTER TABLE stripe_subscriptions ADD COLUMN pending_plan_price_id bigint REFERENCES plan_prices;
  `);
}

export const exceptions = {
  'stripe_subscriptions_pending_plan_price_id_fkey is a rule, or an index, that stripe_subscriptions did not have':
    'the version before never writes the column',
  'stripe_subscriptions_stripe_price_id_check is a rule, or an index, that stripe_subscriptions did not have':
    'the version before never writes the column',
};
