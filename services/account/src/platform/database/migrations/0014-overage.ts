import type { Knex } from 'knex';

const SCHEMA = /* sql */ `
    -- What a customer has agreed to: up to so many further points in each period, at most at this price.
    CREATE TABLE overage_settings (
      account_id bigint PRIMARY KEY REFERENCES accounts,
      -- 0 for none.
      cap_points bigint NOT NULL CHECK (cap_points BETWEEN 0 AND 9007199254740991),
      -- Of 1,000 points, in Stripe's minor unit, without tax. Null before the first agreement.
      price_per_1000 integer CHECK (price_per_1000 BETWEEN 1 AND 99999999),
      currency text CHECK (currency ~ '^[a-z]{3}$'),
      changed_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT overage_settings_price CHECK ((price_per_1000 IS NULL) = (currency IS NULL)
        AND (cap_points = 0 OR price_per_1000 IS NOT NULL))
    );

    -- Periods that have had further points, with the price that holds for all of them. No reference to the period: it
    -- may be withdrawn before it starts.
    CREATE TABLE period_overages (
      period_id bigint PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      price_per_1000 integer NOT NULL CHECK (price_per_1000 BETWEEN 1 AND 99999999),
      currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX period_overages_account_id_idx ON period_overages (account_id, period_id);

    -- Further points are grants that are paid for afterwards, by what was used of them.
    CREATE TABLE overage_grants (
      credit_id bigint PRIMARY KEY REFERENCES credit_grants,
      period_id bigint NOT NULL REFERENCES period_overages
    );
    CREATE INDEX overage_grants_period_id_idx ON overage_grants (period_id);
    ALTER TABLE credit_grants DROP CONSTRAINT credit_grants_source_check;
    -- Not checked for the rows that are there, which have fewer sources.
    ALTER TABLE credit_grants ADD CONSTRAINT credit_grants_source_check
      CHECK (source IN ('purchase', 'promotion', 'compensation', 'carry_over', 'overage')) NOT VALID;

    -- One item of an invoice each. Corrections are further rows, also negative ones.
    CREATE TABLE overage_charges (
      charge_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      -- In Stripe's metadata, too: overage:<period>, then overage:<period>:2 and so on.
      charge_key text NOT NULL UNIQUE CHECK (char_length(charge_key) BETWEEN 1 AND 100),
      account_id bigint NOT NULL REFERENCES accounts,
      period_id bigint NOT NULL REFERENCES period_overages,
      points bigint NOT NULL,
      -- In Stripe's minor unit of the period's currency, without tax.
      amount bigint NOT NULL CHECK (abs(amount) BETWEEN 1 AND 99999999),
      stripe_item_id text UNIQUE CHECK (char_length(stripe_item_id) BETWEEN 1 AND 255),
      attempts integer NOT NULL DEFAULT 0,
      -- Null once Stripe has the item.
      next_attempt_at timestamptz DEFAULT clock_timestamp(),
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      CONSTRAINT overage_charges_charged CHECK ((stripe_item_id IS NULL) = (next_attempt_at IS NOT NULL))
    );
    CREATE INDEX overage_charges_account_id_idx ON overage_charges (account_id, charge_id);
    CREATE INDEX overage_charges_period_id_idx ON overage_charges (period_id);
    CREATE INDEX overage_charges_next_attempt_at_idx ON overage_charges (next_attempt_at)
      WHERE next_attempt_at IS NOT NULL;
    CREATE TRIGGER overage_charges_announced AFTER INSERT ON overage_charges
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();

    -- Accounts whose further points are to be brought to what is agreed, or to be charged. No key: neither counting nor
    -- closing must wait for a check.
    CREATE TABLE overage_checks (
      check_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts,
      next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX overage_checks_account_id_idx ON overage_checks (account_id);
    CREATE INDEX overage_checks_next_attempt_at_idx ON overage_checks (next_attempt_at);
    CREATE TRIGGER overage_checks_announced AFTER INSERT ON overage_checks
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();

    -- A period that starts, changes or is withdrawn.
    CREATE FUNCTION billing_periods_overage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO overage_checks (account_id)
          SELECT DISTINCT account_id FROM changed_rows JOIN overage_settings USING (account_id)
          WHERE cap_points > 0;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER billing_periods_overage_added AFTER INSERT ON billing_periods
      REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_overage();
    CREATE TRIGGER billing_periods_overage_changed AFTER UPDATE ON billing_periods
      REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_overage();
    CREATE TRIGGER billing_periods_overage_removed AFTER DELETE ON billing_periods
      REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_overage();

    -- Once a void is settled, what is left of it is known.
    CREATE FUNCTION credit_cuts_overage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO overage_checks (account_id)
          SELECT DISTINCT account_id FROM new_rows JOIN overage_settings USING (account_id)
          WHERE resolved_at IS NOT NULL AND cap_points > 0;
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER credit_cuts_overage AFTER UPDATE ON credit_cuts
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credit_cuts_overage();

    -- A period that is closed, or corrected since: its further points are to be charged.
    CREATE FUNCTION period_credits_overage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO overage_checks (account_id)
          SELECT DISTINCT period.account_id FROM new_rows JOIN billing_periods AS period USING (period_id)
          WHERE closed_at IS NOT NULL
            AND EXISTS (SELECT FROM period_overages AS overage WHERE overage.account_id = period.account_id);
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER period_credits_overage_added AFTER INSERT ON period_credits
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION period_credits_overage();
    CREATE TRIGGER period_credits_overage_changed AFTER UPDATE ON period_credits
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION period_credits_overage();

    -- Further points aren't a present: credits.granted and credits.expiring are about others.
    CREATE OR REPLACE FUNCTION credit_notices_added() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO credit_notices (credit_id, kind, at)
          SELECT credit_id, kind, at FROM new_rows CROSS JOIN LATERAL (VALUES
            ('granted', clock_timestamp()), ('started', usable_from), ('expiring', expires_at)) AS notice (kind, at)
          WHERE at IS NOT NULL AND source <> 'overage';
        RETURN NULL;
      END
    $$;
`;

/** Points beyond the included ones (docs/design/payments.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(SCHEMA);
}

export const exceptions = {
  'credit_grants_source_check is a rule, or an index, that credit_grants did not have':
    'it replaces one that allows fewer sources',
};
