import type { Knex } from 'knex';

const SCHEMA = /* sql */ `
    -- What a customer has set. Off and paused are two facts: paused_for says why nothing is tried although it is on.
    CREATE TABLE top_up_settings (
      account_id bigint PRIMARY KEY REFERENCES accounts,
      is_on boolean NOT NULL,
      pack_id bigint NOT NULL REFERENCES packs,
      threshold_points bigint NOT NULL CHECK (threshold_points BETWEEN 1 AND 9007199254740991),
      -- Of a calendar month in UTC. The amount is in Stripe's minor unit of the pack's currency.
      max_times integer NOT NULL CHECK (max_times BETWEEN 1 AND 1000),
      max_amount bigint NOT NULL CHECK (max_amount BETWEEN 1 AND 9007199254740991),
      -- In a row.
      declines integer NOT NULL DEFAULT 0 CHECK (declines >= 0),
      paused_for text CHECK (char_length(paused_for) BETWEEN 1 AND 100),
      -- After a decline, or if this month's limit is reached.
      not_before timestamptz,
      -- Usage asks for checks; this one is for what changes by time alone.
      next_check_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      changed_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX top_up_settings_pack_id_idx ON top_up_settings (pack_id);
    CREATE INDEX top_up_settings_next_check_at_idx ON top_up_settings (next_check_at) WHERE is_on;

    -- Attempts. All that the grant needs is here before Stripe is asked.
    CREATE TABLE top_ups (
      top_up_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- Of the keys of its requests to Stripe; an id of a restored database may have been used before.
      top_up_key uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
      account_id bigint NOT NULL REFERENCES accounts,
      -- No foreign key: an attempt can come back from Stripe's metadata after a restore.
      pack_id bigint NOT NULL,
      pack_name text NOT NULL CHECK (char_length(pack_name) BETWEEN 1 AND 100),
      points bigint NOT NULL CHECK (points BETWEEN 1 AND 9007199254740991),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      amount bigint NOT NULL CHECK (amount BETWEEN 1 AND 99999999),
      expires_after_days integer CHECK (expires_after_days BETWEEN 1 AND 36500),
      -- open: nothing can be charged yet; confirming: Stripe may be charging.
      state text NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'confirming', 'processing', 'paid', 'declined', 'canceled')),
      payment_id text UNIQUE CHECK (char_length(payment_id) BETWEEN 1 AND 255),
      payment_method_id text CHECK (char_length(payment_method_id) BETWEEN 1 AND 255),
      decline_code text CHECK (char_length(decline_code) BETWEEN 1 AND 100),
      purchase_id bigint UNIQUE REFERENCES purchases,
      attempts integer NOT NULL DEFAULT 0,
      -- Null once there is nothing to ask of Stripe.
      next_attempt_at timestamptz DEFAULT clock_timestamp(),
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      decided_at timestamptz,
      CONSTRAINT top_ups_decided CHECK ((state IN ('paid', 'declined', 'canceled')) = (decided_at IS NOT NULL)
        AND (decided_at IS NULL OR next_attempt_at IS NULL) AND (state = 'paid') = (purchase_id IS NOT NULL)
        AND (state NOT IN ('confirming', 'processing', 'paid') OR payment_id IS NOT NULL))
    );
    CREATE INDEX top_ups_account_id_idx ON top_ups (account_id, top_up_id);
    -- One at a time.
    CREATE UNIQUE INDEX top_ups_pending_key ON top_ups (account_id)
      WHERE state IN ('open', 'confirming', 'processing');
    CREATE INDEX top_ups_next_attempt_at_idx ON top_ups (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
    CREATE TRIGGER top_ups_announced AFTER INSERT ON top_ups
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();

    -- Accounts whose points are to be looked at. No key: counting must not wait for a check.
    CREATE TABLE top_up_checks (
      check_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX top_up_checks_account_id_idx ON top_up_checks (account_id);
    CREATE TRIGGER top_up_checks_announced AFTER INSERT ON top_up_checks
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();

    -- By the limit that is shown, as alerts are.
    CREATE FUNCTION top_ups_wanted() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM top_up_settings WHERE is_on) THEN RETURN NULL; END IF;
        INSERT INTO top_up_checks (account_id)
          SELECT account_id FROM new_rows JOIN billing_periods AS period USING (period_id)
          JOIN top_up_settings AS wanted USING (account_id)
          CROSS JOIN LATERAL (SELECT alert_points_limit(period) AS points_limit OFFSET 0) AS raised
          WHERE is_on AND paused_for IS NULL AND (not_before IS NULL OR not_before <= clock_timestamp())
            AND jsonb_typeof(points_limit) = 'number'
            AND CAST(points_limit AS numeric) - new_rows.points < threshold_points
            AND NOT EXISTS (SELECT FROM top_ups WHERE top_ups.account_id = wanted.account_id
              AND state IN ('open', 'confirming', 'processing'));
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER usage_totals_top_ups_added AFTER INSERT ON usage_totals
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION top_ups_wanted();
    CREATE TRIGGER usage_totals_top_ups_changed AFTER UPDATE ON usage_totals
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION top_ups_wanted();

    -- Credits that end leave fewer points without any usage.
    CREATE FUNCTION credit_cuts_top_ups() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO top_up_checks (account_id)
          SELECT DISTINCT account_id FROM new_rows JOIN top_up_settings USING (account_id)
          WHERE is_on AND resolved_at IS NOT NULL;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER credit_cuts_top_ups AFTER UPDATE ON credit_cuts
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credit_cuts_top_ups();

    -- Who pays can be charged again.
    CREATE FUNCTION purchases_resume_top_ups() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE top_up_settings SET declines = 0, not_before = NULL, next_check_at = clock_timestamp(),
            paused_for = CASE WHEN paused_for = 'pack_withdrawn' THEN paused_for END
          WHERE account_id = NEW.account_id AND (declines > 0 OR paused_for IS NOT NULL);
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER purchases_resume_top_ups AFTER UPDATE OF state ON purchases FOR EACH ROW
      WHEN (NEW.state = 'paid' AND OLD.state <> 'paid') EXECUTE FUNCTION purchases_resume_top_ups();

    -- Postgres was restored from a backup: nothing is charged until payments are reconciled since then.
    CREATE TABLE payment_restores (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      found_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE FUNCTION payment_restores_found() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO payment_restores DEFAULT VALUES ON CONFLICT DO NOTHING;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER usage_restores_payments AFTER INSERT ON usage_restores
      FOR EACH ROW EXECUTE FUNCTION payment_restores_found();

    ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_event_type_check;
    -- Not checked for the rows that are there, which would block deliveries: they have fewer types.
    ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_event_type_check CHECK (event_type IN
      ('usage.alert', 'credits.granted', 'credits.expiring', 'credits.low', 'invoice.paid', 'payment.failed',
       'top_up.failed', 'webhook.test')) NOT VALID;
`;

/** Automatic top-up (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(SCHEMA);
}

export const exceptions = {
  'webhook_deliveries_event_type_check is a rule, or an index, that webhook_deliveries did not have':
    'it replaces one that allows fewer types of events',
};
