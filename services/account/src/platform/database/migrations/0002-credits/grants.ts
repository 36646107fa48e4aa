/** Grants: never edited. What is left of them follows from their movements. */
export const GRANTS = /* sql */ `
  CREATE TABLE credit_grants (
    credit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    points bigint NOT NULL,
    -- The balance of the grant's movements; only their trigger changes it.
    points_remaining bigint NOT NULL DEFAULT 0,
    source text NOT NULL CHECK (source IN ('purchase', 'promotion', 'compensation', 'carry_over')),
    priority smallint NOT NULL DEFAULT 50 CHECK (priority BETWEEN 0 AND 100),
    effective_at timestamptz(0) NOT NULL,
    -- Exactly from when its points can be used: effective_at, or the instant of Redis' clock at which it was granted, in
    -- that second.
    usable_from timestamptz(3) NOT NULL,
    -- Exclusive. Null for never.
    expires_at timestamptz(0),
    note text CHECK (char_length(note) BETWEEN 1 AND 1000),
    purchase_id bigint,
    -- The instant of Redis' clock from which its points can't be used, and where what is left of them goes.
    void_requested_at timestamptz(3),
    void_to text CHECK (void_to IN ('voided', 'refunded', 'forfeited')),
    -- The account that gets what is left; null for none.
    transfer_to bigint REFERENCES accounts,
    -- Both null until the usage before that instant is settled.
    voided_at timestamptz,
    points_voided bigint CHECK (points_voided >= 0),
    -- Who granted it, and their idempotency key.
    reporter text NOT NULL CHECK (char_length(reporter) BETWEEN 1 AND 200),
    idempotency_key text NOT NULL CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
    -- SHA-256 in base64url of the request's content.
    content_hash text NOT NULL CHECK (char_length(content_hash) = 43),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- 2^53 - 1, as totals.
    CONSTRAINT credit_grants_points CHECK (points BETWEEN 1 AND 9007199254740991),
    CONSTRAINT credit_grants_balance CHECK (points_remaining BETWEEN 0 AND points),
    CONSTRAINT credit_grants_usable_from
      CHECK (usable_from >= effective_at AND usable_from < effective_at + interval '1 second'),
    CONSTRAINT credit_grants_expire_after_start CHECK (expires_at > usable_from),
    CONSTRAINT credit_grants_void CHECK ((void_requested_at IS NULL) = (void_to IS NULL)
      AND (voided_at IS NULL) = (points_voided IS NULL) AND (voided_at IS NULL OR void_requested_at IS NOT NULL)),
    CONSTRAINT credit_grants_transfer CHECK (transfer_to IS NULL OR void_to = 'voided' AND transfer_to <> account_id)
  );
  CREATE UNIQUE INDEX credit_grants_idempotency_key ON credit_grants (reporter, idempotency_key);
  CREATE INDEX credit_grants_account_id_idx ON credit_grants (account_id, credit_id);
  CREATE INDEX credit_grants_purchase_id_idx ON credit_grants (purchase_id) WHERE purchase_id IS NOT NULL;

  CREATE FUNCTION credit_grants_are_not_edited() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      may_change text[] := ARRAY['points_remaining', 'note', 'void_requested_at', 'void_to', 'transfer_to', 'voided_at',
        'points_voided'];
    BEGIN
      IF TG_OP = 'INSERT' THEN
        IF NEW.points_remaining <> 0 THEN
          RAISE EXCEPTION 'a grant gets its points by a movement';
        END IF;
      ELSIF (to_jsonb(NEW) - may_change) IS DISTINCT FROM (to_jsonb(OLD) - may_change)
        -- At depth 1 it isn't the trigger of a movement.
        OR NEW.points_remaining <> OLD.points_remaining AND pg_trigger_depth() < 2
        OR NEW.note IS DISTINCT FROM OLD.note AND NEW.note IS NOT NULL
        OR OLD.void_requested_at IS NOT NULL
          AND (NEW.void_requested_at, NEW.void_to, NEW.transfer_to)
            IS DISTINCT FROM (OLD.void_requested_at, OLD.void_to, OLD.transfer_to)
        OR OLD.voided_at IS NOT NULL
          AND (NEW.voided_at, NEW.points_voided) IS DISTINCT FROM (OLD.voided_at, OLD.points_voided) THEN
        RAISE EXCEPTION 'a grant is not edited';
      END IF;
      RETURN NEW;
    END
  $$;
  CREATE TRIGGER credit_grants_not_edited BEFORE INSERT OR UPDATE ON credit_grants
    FOR EACH ROW EXECUTE FUNCTION credit_grants_are_not_edited();

  CREATE FUNCTION credits_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
    END
  $$;
  CREATE TRIGGER credit_grants_kept BEFORE DELETE OR TRUNCATE ON credit_grants
    FOR EACH STATEMENT EXECUTE FUNCTION credits_are_kept();
`;
