import type { Knex } from 'knex';

/** Team slots as the second item of a subscription at Stripe (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- Of one additional slot. Never edited: another price withdraws the one before.
    CREATE TABLE team_slot_prices (
      team_slot_price_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      plan_id bigint NOT NULL REFERENCES plans,
      billing_interval text NOT NULL CHECK (billing_interval IN ('month', 'year')),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      -- In Stripe's minor unit.
      unit_amount bigint NOT NULL CHECK (unit_amount BETWEEN 1 AND 99999999),
      tax_behavior text NOT NULL CHECK (tax_behavior IN ('exclusive', 'inclusive')),
      -- Null until it is first needed.
      stripe_price_id text UNIQUE CHECK (char_length(stripe_price_id) BETWEEN 1 AND 255),
      withdrawn_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX team_slot_prices_current_key ON team_slot_prices (plan_id, billing_interval)
      WHERE withdrawn_at IS NULL;

    -- All slots, the plan's own included, from the next period on; null if no release is planned.
    ALTER TABLE subscriptions ADD COLUMN pending_team_slots_limit integer
      CHECK (pending_team_slots_limit > 0);

    -- How many slots Stripe charges, as far as is known here: another number is a change that was made there.
    ALTER TABLE stripe_subscriptions ADD COLUMN slots integer NOT NULL DEFAULT 0 CHECK (slots >= 0);
    -- How many it is to charge once a planned release takes effect.
    ALTER TABLE stripe_subscriptions ADD COLUMN pending_slots integer CHECK (pending_slots >= 0);
    -- Whether a release has taken effect that Stripe doesn't know yet.
    ALTER TABLE stripe_subscriptions ADD COLUMN slots_changed boolean NOT NULL DEFAULT false;

    CREATE OR REPLACE FUNCTION subscriptions_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE stripe_subscriptions SET revision = revision + 1, attempts = 0, next_attempt_at = clock_timestamp(),
            -- A planned change that is revoked may have been made at Stripe.
            plan_changed = plan_changed
              OR (OLD.plan_id, OLD.billing_interval) IS DISTINCT FROM (NEW.plan_id, NEW.billing_interval)
              OR (OLD.pending_plan_id IS NOT NULL AND NEW.pending_plan_id IS NULL),
            end_changed = end_changed OR OLD.cancel_at_period_end IS DISTINCT FROM NEW.cancel_at_period_end,
            -- Only a renewal applies a release; anything else revokes it.
            slots_changed = slots_changed OR (OLD.pending_team_slots_limit IS NOT NULL
              AND NEW.pending_team_slots_limit IS NULL AND NEW.renews_at > OLD.renews_at)
          WHERE subscription_id = NEW.subscription_id;
        -- An ended subscription owes nothing that another one should wait for.
        IF NEW.ended_at IS NOT NULL THEN
          DELETE FROM payment_blocks USING billing_periods
            WHERE billing_periods.period_id = payment_blocks.period_id
              AND billing_periods.subscription_id = NEW.subscription_id;
        END IF;
        RETURN NULL;
      END
    $$;
    DROP TRIGGER subscriptions_changed ON subscriptions;
    CREATE TRIGGER subscriptions_changed AFTER UPDATE ON subscriptions FOR EACH ROW
      WHEN ((OLD.plan_id, OLD.billing_interval, OLD.cancel_at_period_end, OLD.ended_at)
        IS DISTINCT FROM (NEW.plan_id, NEW.billing_interval, NEW.cancel_at_period_end, NEW.ended_at)
        OR (OLD.pending_plan_id IS NOT NULL AND NEW.pending_plan_id IS NULL)
        OR (OLD.pending_team_slots_limit IS NOT NULL AND NEW.pending_team_slots_limit IS NULL))
      EXECUTE FUNCTION subscriptions_changed();
  `);
}

const NEVER_WRITTEN = 'the version before never writes the column';

export const exceptions = {
  'stripe_subscriptions_pending_slots_check is a rule, or an index, that stripe_subscriptions did not have':
    NEVER_WRITTEN,
  'stripe_subscriptions_slots_check is a rule, or an index, that stripe_subscriptions did not have':
    NEVER_WRITTEN,
  'subscriptions_pending_team_slots_limit_check is a rule, or an index, that subscriptions did not have':
    NEVER_WRITTEN,
};
