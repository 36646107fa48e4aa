/** How far the usage of periods is settled with the grants of their payer. */
export const SETTLEMENT = /* sql */ `
  -- The instants at which a payer's usable points change. Usage before one is settled with the grants of then.
  CREATE TABLE credit_cuts (
    account_id bigint NOT NULL REFERENCES accounts,
    at timestamptz(3) NOT NULL,
    resolved_at timestamptz,
    PRIMARY KEY (account_id, at)
  );
  CREATE INDEX credit_cuts_unresolved_idx ON credit_cuts (at) WHERE resolved_at IS NULL;
  -- The usage reader looks for those of the payers that it counts.
  CREATE INDEX credit_cuts_account_unresolved_idx ON credit_cuts (account_id, at) WHERE resolved_at IS NULL;

  -- A period's points at a cut, by the entries of its stream that were written before.
  CREATE TABLE credit_cut_points (
    account_id bigint NOT NULL,
    at timestamptz(3) NOT NULL,
    period_id bigint NOT NULL REFERENCES billing_periods ON DELETE CASCADE,
    points bigint NOT NULL CHECK (points >= 0),
    PRIMARY KEY (account_id, at, period_id),
    FOREIGN KEY (account_id, at) REFERENCES credit_cuts
  );
  CREATE INDEX credit_cut_points_period_id_idx ON credit_cut_points (period_id);

  -- What is left of an account's grants is read with its entitlement.
  CREATE INDEX credit_grants_live_idx ON credit_grants (account_id) WHERE points_remaining > 0;

  -- A period without a row has nothing settled.
  CREATE TABLE period_credits (
    period_id bigint PRIMARY KEY REFERENCES billing_periods ON DELETE CASCADE,
    -- Of its points above the included ones: how many are settled, and how many of those no grant covered.
    settled_points bigint NOT NULL DEFAULT 0 CHECK (settled_points >= 0),
    overuse_points bigint NOT NULL DEFAULT 0,
    -- The part of the overuse that the next purchase pays (CREDITS_OVERUSE=carry).
    carried_points bigint NOT NULL DEFAULT 0,
    closed_at timestamptz,
    -- The period's points that are settled; a difference is a correction's.
    closed_points bigint CHECK (closed_points >= 0),
    CONSTRAINT period_credits_overuse CHECK (overuse_points BETWEEN 0 AND settled_points),
    CONSTRAINT period_credits_carried CHECK (carried_points BETWEEN 0 AND overuse_points),
    CONSTRAINT period_credits_closed CHECK ((closed_at IS NULL) = (closed_points IS NULL))
  );

  -- A trigger makes them, so that no change of a grant can miss one. One at the instant of another is to be resolved
  -- again.
  CREATE FUNCTION credit_grants_cut() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO credit_cuts (account_id, at)
        SELECT NEW.account_id, instant FROM unnest(CASE
          WHEN TG_OP = 'INSERT' THEN ARRAY[NEW.usable_from, NEW.expires_at]
          WHEN OLD.void_requested_at IS NULL THEN ARRAY[NEW.void_requested_at] END) AS instant
        WHERE instant IS NOT NULL
        ORDER BY instant
        ON CONFLICT (account_id, at) DO UPDATE SET resolved_at = NULL;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER credit_grants_cut AFTER INSERT OR UPDATE OF void_requested_at ON credit_grants
    FOR EACH ROW EXECUTE FUNCTION credit_grants_cut();

  -- Closed periods whose plan carries unused points over to the next period: what they leave is to be granted, or to be
  -- corrected.
  CREATE TABLE credit_carry_overs (
    period_id bigint PRIMARY KEY REFERENCES billing_periods ON DELETE CASCADE,
    account_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  -- Periods whose points changed after they were closed. One row for each change: a single row per period would make
  -- counting wait for the correction.
  CREATE TABLE credit_corrections (
    correction_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    period_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE FUNCTION usage_totals_corrections() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO credit_corrections (period_id)
        SELECT period_id FROM new_rows JOIN period_credits USING (period_id) WHERE points <> closed_points;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER usage_totals_corrections_added AFTER INSERT ON usage_totals
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_corrections();
  CREATE TRIGGER usage_totals_corrections_changed AFTER UPDATE ON usage_totals
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_corrections();
`;
