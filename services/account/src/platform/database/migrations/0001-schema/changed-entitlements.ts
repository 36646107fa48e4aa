/** Triggers that record whose entitlement a transaction changes, whichever program runs it. */
export const CHANGED_ENTITLEMENTS = /* sql */ `
  -- A row is written in the transaction that changes an entitlement, and deleted when Redis has the event.
  CREATE TABLE entitlement_outbox (
    outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  -- What a trigger calls. Triggers are per statement, so that ten thousand changed rows are one insert.
  CREATE FUNCTION entitlements_changed(account_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO entitlement_outbox (account_id)
        SELECT DISTINCT changed FROM unnest(account_ids) AS changed WHERE changed IS NOT NULL;
      IF FOUND THEN
        NOTIFY entitlement_outbox;
      END IF;
    END
  $$;

  -- A transition table exists only for the operations that have it, so each operation has a function.
  CREATE FUNCTION billing_periods_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(SELECT account_id FROM new_rows));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION billing_periods_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(
        SELECT account_id FROM old_rows UNION SELECT account_id FROM new_rows));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION billing_periods_removed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(SELECT account_id FROM old_rows));
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER billing_periods_added AFTER INSERT ON billing_periods
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_added();
  CREATE TRIGGER billing_periods_changed AFTER UPDATE ON billing_periods
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_changed();
  CREATE TRIGGER billing_periods_removed AFTER DELETE ON billing_periods
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_removed();

  -- Of an account only the block counts; a new account can't be in any cache.
  CREATE FUNCTION accounts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(
        SELECT account_id FROM old_rows JOIN new_rows USING (account_id)
        WHERE old_rows.blocked_at IS DISTINCT FROM new_rows.blocked_at));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION accounts_removed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(SELECT account_id FROM old_rows));
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER accounts_changed AFTER UPDATE ON accounts
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_changed();
  CREATE TRIGGER accounts_removed AFTER DELETE ON accounts
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION accounts_removed();

  -- A member's own entitlement; and with a manager, the payer of everyone in the team.
  CREATE FUNCTION team_members_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(
        SELECT account_id FROM new_rows
        UNION SELECT account_id FROM team_members
          WHERE team_id IN (SELECT team_id FROM new_rows WHERE role = 'manager')));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION team_members_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(
        SELECT account_id FROM old_rows UNION SELECT account_id FROM new_rows
        UNION SELECT account_id FROM team_members WHERE team_id IN (
          SELECT team_id FROM old_rows WHERE role = 'manager'
          UNION SELECT team_id FROM new_rows WHERE role = 'manager')));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION team_members_removed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(
        SELECT account_id FROM old_rows
        UNION SELECT account_id FROM team_members
          WHERE team_id IN (SELECT team_id FROM old_rows WHERE role = 'manager')));
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER team_members_added AFTER INSERT ON team_members
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION team_members_added();
  CREATE TRIGGER team_members_changed AFTER UPDATE ON team_members
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION team_members_changed();
  CREATE TRIGGER team_members_removed AFTER DELETE ON team_members
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION team_members_removed();
`;
