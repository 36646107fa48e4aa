/** The ledger, by double entry: each row moves points of a grant from one of its accounts to another. */
export const MOVEMENTS = /* sql */ `
  -- No foreign key to periods: a movement outlives what it is about.
  CREATE TABLE credit_movements (
    movement_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    credit_id bigint NOT NULL REFERENCES credit_grants,
    account_id bigint NOT NULL,
    from_ledger text NOT NULL,
    to_ledger text NOT NULL,
    points bigint NOT NULL CHECK (points > 0),
    reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 200),
    -- The movement that this one takes back, in part or whole.
    corrects_movement_id bigint REFERENCES credit_movements,
    -- The period whose usage it pays.
    period_id bigint,
    -- The instant that it is dated at: of the cut, of the expiry. created_at is when it was written.
    at timestamptz(3) NOT NULL,
    -- As in audit_log.
    actor text NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 300),
    purchase_id bigint,
    stripe_id text CHECK (char_length(stripe_id) BETWEEN 1 AND 255),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT credit_movements_ledgers CHECK (
      from_ledger IN ('issued', 'grant', 'used', 'expired', 'voided', 'refunded', 'forfeited')
      AND to_ledger IN ('grant', 'used', 'expired', 'voided', 'refunded', 'forfeited')
      AND (from_ledger = 'grant') <> (to_ledger = 'grant')),
    -- What comes back to a grant has gone from it before.
    CONSTRAINT credit_movements_returns
      CHECK ((corrects_movement_id IS NOT NULL) = (from_ledger NOT IN ('issued', 'grant'))),
    CONSTRAINT credit_movements_use CHECK ((period_id IS NOT NULL) = ('used' IN (from_ledger, to_ledger)))
  );
  CREATE INDEX credit_movements_credit_id_idx ON credit_movements (credit_id, movement_id);
  CREATE INDEX credit_movements_account_id_idx ON credit_movements (account_id, movement_id);
  CREATE INDEX credit_movements_period_id_idx ON credit_movements (period_id, movement_id)
    WHERE period_id IS NOT NULL;
  CREATE INDEX credit_movements_corrects_idx ON credit_movements (corrects_movement_id)
    WHERE corrects_movement_id IS NOT NULL;
  CREATE UNIQUE INDEX credit_movements_issued_key ON credit_movements (credit_id) WHERE from_ledger = 'issued';

  CREATE TRIGGER credit_movements_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_movements
    FOR EACH STATEMENT EXECUTE FUNCTION credits_are_kept();

  -- Keeps the balance of the grant, whose constraint refuses a movement of more than there is.
  CREATE FUNCTION credit_movements_move() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE credit_grants
        SET points_remaining = points_remaining + CASE WHEN NEW.to_ledger = 'grant' THEN NEW.points ELSE -NEW.points END
        WHERE credit_id = NEW.credit_id AND account_id = NEW.account_id
          AND (NEW.from_ledger <> 'issued' OR points = NEW.points);
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the movement fits no grant of the account' USING ERRCODE = 'check_violation',
          CONSTRAINT = 'credit_movements_grant';
      END IF;
      IF NEW.corrects_movement_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM credit_movements AS corrected
        WHERE movement_id = NEW.corrects_movement_id AND credit_id = NEW.credit_id
          AND to_ledger = NEW.from_ledger AND period_id IS NOT DISTINCT FROM NEW.period_id
          AND points >= (SELECT sum(points) FROM credit_movements WHERE corrects_movement_id = NEW.corrects_movement_id)
      ) THEN
        RAISE EXCEPTION 'a correction takes back more than was moved' USING ERRCODE = 'check_violation',
          CONSTRAINT = 'credit_movements_corrected';
      END IF;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER credit_movements_move AFTER INSERT ON credit_movements
    FOR EACH ROW EXECUTE FUNCTION credit_movements_move();

  -- Accounts whose ledger differs from its grants and periods, as the checks in the background have found.
  CREATE TABLE credit_differences (
    account_id bigint PRIMARY KEY,
    fault text NOT NULL,
    movement_id bigint,
    found_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  CREATE FUNCTION credit_grants_are_issued() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (SELECT FROM credit_movements WHERE credit_id = NEW.credit_id AND from_ledger = 'issued') THEN
        RAISE EXCEPTION 'a grant gets its points by a movement';
      END IF;
      RETURN NULL;
    END
  $$;
  CREATE CONSTRAINT TRIGGER credit_grants_issued AFTER INSERT ON credit_grants
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION credit_grants_are_issued();
`;
