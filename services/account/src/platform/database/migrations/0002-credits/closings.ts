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

  -- Usage streams whose position was behind what Redis had trimmed: Postgres was restored from a backup. Until they are
  -- repaired, nothing is settled.
  CREATE TABLE usage_restores (
    stream text PRIMARY KEY,
    found_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  CREATE FUNCTION period_end_of_use(period billing_periods) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT least(period.ended_at + (period.grace_sec + 1) * interval '1 second', (
      SELECT min(later.started_at) FROM billing_periods AS later
      WHERE later.account_id = period.account_id AND later.started_at > period.started_at))
  $$;

  -- What a period used above its included points and isn't settled; 0 for a plan that doesn't limit points.
  CREATE FUNCTION period_unsettled_points(period billing_periods) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT greatest(0, CASE WHEN jsonb_typeof(period.description -> 'points_limit') = 'number' THEN
      coalesce((SELECT points FROM usage_totals WHERE period_id = period.period_id), 0)
      - CAST(period.description -> 'points_limit' AS bigint)
      - coalesce((SELECT settled_points FROM period_credits WHERE period_id = period.period_id), 0) END)
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

  -- How many points credits add to a period's limit: what grants paid or was forgiven, and, for the present period, what
  -- grants still have that no earlier open period needs. Points of a grant whose end isn't settled yet count as far as
  -- they are used.
  CREATE FUNCTION period_credit_points(wanted_id bigint, at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
    DECLARE
      own record;
      reserved numeric;
      usable numeric;
      ended numeric;
    BEGIN
      SELECT period.account_id, period.started_at, closing.period_id IS NOT NULL AS is_open,
        coalesce(settled_points, 0) AS settled, period_unsettled_points(period) AS unsettled,
        EXISTS (SELECT FROM billing_periods AS later WHERE later.account_id = period.account_id
          AND later.started_at > period.started_at AND later.started_at <= at) AS is_followed
      INTO own
      FROM billing_periods AS period LEFT JOIN period_credits USING (period_id)
      LEFT JOIN period_closings AS closing USING (period_id) WHERE period.period_id = wanted_id;
      IF NOT own.is_open OR own.started_at > at THEN
        RETURN own.settled;
      ELSIF own.is_followed THEN
        RETURN own.settled + own.unsettled;
      END IF;
      SELECT coalesce(sum(period_unsettled_points(period)), 0) INTO reserved
      FROM period_closings JOIN billing_periods AS period USING (period_id)
      WHERE period_closings.account_id = own.account_id AND period.started_at < own.started_at;
      SELECT coalesce(sum(points_remaining) FILTER (WHERE ends_at > at), 0),
        coalesce(sum(points_remaining) FILTER (WHERE ends_at <= at), 0) INTO usable, ended
      FROM (
        SELECT points_remaining, coalesce(least(expires_at, void_requested_at), 'infinity') AS ends_at
        FROM credit_grants WHERE account_id = own.account_id AND points_remaining > 0 AND usable_from <= at
      ) AS live;
      RETURN least(own.settled + greatest(0, usable - reserved) + least(ended, own.unsettled), 9007199254740991);
    END
  $$;

  INSERT INTO period_closings (period_id, account_id, ends_at)
    SELECT period_id, account_id, ends_at
    FROM (SELECT period_id, account_id, period_end_of_use(period) AS ends_at FROM billing_periods AS period) AS found
    WHERE ends_at > now();
`;
