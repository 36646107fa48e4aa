import type { Knex } from 'knex';

const SCHEMA = /* sql */ `
    -- Never edited: another price withdraws the one before, which its subscribers keep.
    CREATE TABLE plan_prices (
      plan_price_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    CREATE UNIQUE INDEX plan_prices_current_key ON plan_prices (plan_id, billing_interval)
      WHERE withdrawn_at IS NULL;

    -- From the payment page on. What was sold is here before Stripe is asked.
    CREATE TABLE stripe_subscriptions (
      checkout_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- Of the keys of its requests to Stripe; an id of a restored database may have been used before.
      checkout_key uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
      account_id bigint NOT NULL REFERENCES accounts,
      plan_id bigint NOT NULL REFERENCES plans,
      billing_interval text NOT NULL CHECK (billing_interval IN ('month', 'year')),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      -- Without tax and discounts.
      amount bigint NOT NULL CHECK (amount BETWEEN 1 AND 99999999),
      -- refused: it was paid and couldn't start, so that it was cancelled and refunded.
      state text NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'processing', 'expired', 'started', 'refused')),
      session_id text UNIQUE CHECK (char_length(session_id) BETWEEN 1 AND 255),
      session_url text CHECK (char_length(session_url) BETWEEN 1 AND 2048),
      stripe_subscription_id text UNIQUE CHECK (char_length(stripe_subscription_id) BETWEEN 1 AND 255),
      subscription_id bigint UNIQUE REFERENCES subscriptions,
      -- How often the subscription was changed here: what was read at Stripe before may be out of date.
      revision integer NOT NULL DEFAULT 0,
      -- Which changes Stripe doesn't know yet. What wasn't changed here is Stripe's to say.
      plan_changed boolean NOT NULL DEFAULT false,
      end_changed boolean NOT NULL DEFAULT false,
      attempts integer NOT NULL DEFAULT 0,
      -- Null as long as Stripe knows of all changes.
      next_attempt_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      started_at timestamptz,
      CONSTRAINT stripe_subscriptions_started CHECK ((state = 'started') = (subscription_id IS NOT NULL)
        AND (state = 'started') = (started_at IS NOT NULL)
        AND (subscription_id IS NULL OR stripe_subscription_id IS NOT NULL))
    );
    CREATE INDEX stripe_subscriptions_account_id_idx ON stripe_subscriptions (account_id, checkout_id);
    CREATE INDEX stripe_subscriptions_plan_id_idx ON stripe_subscriptions (plan_id);
    CREATE INDEX stripe_subscriptions_next_attempt_at_idx ON stripe_subscriptions (next_attempt_at)
      WHERE next_attempt_at IS NOT NULL;

    -- What Stripe says of an invoice; its links expire and are asked for when they are needed.
    CREATE TABLE invoices (
      invoice_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      stripe_invoice_id text NOT NULL UNIQUE CHECK (char_length(stripe_invoice_id) BETWEEN 1 AND 255),
      account_id bigint NOT NULL REFERENCES accounts,
      subscription_id bigint REFERENCES subscriptions,
      billing_reason text CHECK (char_length(billing_reason) <= 100),
      -- Null for a draft.
      number text CHECK (char_length(number) BETWEEN 1 AND 255),
      state text NOT NULL CHECK (state IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      -- With tax and discounts; negative for a credit.
      total bigint NOT NULL,
      -- The end of what it is for, exclusive; null if that is no period.
      period_end timestamptz,
      -- When a payment of it failed first.
      failed_at timestamptz,
      issued_at timestamptz NOT NULL,
      paid_at timestamptz
    );
    CREATE INDEX invoices_account_id_idx ON invoices (account_id, invoice_id);
    CREATE INDEX invoices_subscription_id_idx ON invoices (subscription_id);

    -- Payments that are due, beside an operator's block: lifting one never lifts the other. The account's status is
    -- derived: grace from grace_at, blocked from blocks_at.
    CREATE TABLE payment_blocks (
      payment_block_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      reason text NOT NULL CHECK (reason IN ('renewal', 'dispute')),
      period_id bigint UNIQUE REFERENCES billing_periods ON DELETE CASCADE,
      dispute_id text UNIQUE CHECK (char_length(dispute_id) BETWEEN 1 AND 255),
      grace_at timestamptz(0) NOT NULL,
      blocks_at timestamptz(0) NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT payment_blocks_reason CHECK ((reason = 'renewal') = (period_id IS NOT NULL)
        AND (reason = 'dispute') = (dispute_id IS NOT NULL) AND grace_at <= blocks_at)
    );
    CREATE INDEX payment_blocks_account_id_idx ON payment_blocks (account_id);
    CREATE TRIGGER payment_blocks_added AFTER INSERT ON payment_blocks
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_added();
    CREATE TRIGGER payment_blocks_changed AFTER UPDATE ON payment_blocks
      REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_changed();
    CREATE TRIGGER payment_blocks_removed AFTER DELETE ON payment_blocks
      REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_removed();

    ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_event_type_check;
    -- Not checked for the rows that are there, which would block deliveries: they have fewer types.
    ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_event_type_check CHECK (event_type IN
      ('usage.alert', 'credits.granted', 'credits.expiring', 'credits.low', 'invoice.paid', 'payment.failed',
       'webhook.test')) NOT VALID;

    -- Every change of a subscription that is paid through Stripe is sent to Stripe, which would go on charging otherwise.
    CREATE FUNCTION subscriptions_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE stripe_subscriptions SET revision = revision + 1, attempts = 0, next_attempt_at = clock_timestamp(),
            -- A planned change that is revoked may have been made at Stripe.
            plan_changed = plan_changed
              OR (OLD.plan_id, OLD.billing_interval) IS DISTINCT FROM (NEW.plan_id, NEW.billing_interval)
              OR (OLD.pending_plan_id IS NOT NULL AND NEW.pending_plan_id IS NULL),
            end_changed = end_changed OR OLD.cancel_at_period_end IS DISTINCT FROM NEW.cancel_at_period_end
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
    CREATE TRIGGER subscriptions_changed AFTER UPDATE ON subscriptions FOR EACH ROW
      WHEN ((OLD.plan_id, OLD.billing_interval, OLD.cancel_at_period_end, OLD.ended_at)
        IS DISTINCT FROM (NEW.plan_id, NEW.billing_interval, NEW.cancel_at_period_end, NEW.ended_at)
        OR (OLD.pending_plan_id IS NOT NULL AND NEW.pending_plan_id IS NULL))
      EXECUTE FUNCTION subscriptions_changed();
    CREATE TRIGGER stripe_subscriptions_announced AFTER UPDATE OF revision ON stripe_subscriptions
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();
`;

/** Subscriptions that are paid through Stripe (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(SCHEMA);
}

export const exceptions = {
  'webhook_deliveries_event_type_check is a rule, or an index, that webhook_deliveries did not have':
    'it replaces one that allows fewer types of events',
};
