/** Which billing periods are open, and when each can be closed. */
export const CLOSINGS = /* sql */ `
  -- A period is open while it has a row. Those that ended before credits existed have none.
  CREATE TABLE period_closings (
    period_id bigint PRIMARY KEY REFERENCES billing_periods ON DELETE CASCADE,
    account_id bigint NOT NULL,
    -- Its end of use: the end of its grace window, or the start of the next period.
    ends_at timestamptz(0) NOT NULL
  );
  CREATE INDEX period_closings_account_id_idx ON period_closings (account_id);
  CREATE INDEX period_closings_ends_at_idx ON period_closings (ends_at);

  CREATE FUNCTION period_end_of_use(period billing_periods) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT least(period.ended_at + (period.grace_sec + 1) * interval '1 second', (
      SELECT min(later.started_at) FROM billing_periods AS later
      WHERE later.account_id = period.account_id AND later.started_at > period.started_at))
  $$;

  -- A period's end of use depends on the one that follows.
  CREATE FUNCTION period_closings_follow(account_ids bigint[]) RETURNS void LANGUAGE sql AS $$
    UPDATE period_closings SET ends_at = found.ends_at
    FROM (
      SELECT period.period_id, period_end_of_use(period) AS ends_at FROM billing_periods AS period
      WHERE period.period_id IN (SELECT period_id FROM period_closings WHERE account_id = ANY (account_ids))
    ) AS found
    WHERE period_closings.period_id = found.period_id AND period_closings.ends_at <> found.ends_at
  $$;
  CREATE FUNCTION period_closings_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO period_closings (period_id, account_id, ends_at)
        SELECT period_id, account_id, ended_at FROM new_rows;
      PERFORM period_closings_follow(ARRAY(SELECT account_id FROM new_rows));
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION period_closings_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM period_closings_follow(ARRAY(SELECT account_id FROM old_rows));
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER billing_periods_closings_added AFTER INSERT ON billing_periods
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION period_closings_added();
  CREATE TRIGGER billing_periods_closings_changed AFTER UPDATE ON billing_periods
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION period_closings_changed();
  CREATE TRIGGER billing_periods_closings_removed AFTER DELETE ON billing_periods
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION period_closings_changed();

  INSERT INTO period_closings (period_id, account_id, ends_at)
    SELECT period_id, account_id, ends_at
    FROM (SELECT period_id, account_id, period_end_of_use(period) AS ends_at FROM billing_periods AS period) AS found
    WHERE ends_at > now();
`;
