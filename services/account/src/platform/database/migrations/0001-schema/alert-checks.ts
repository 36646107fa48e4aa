/** Which periods must be checked for usage alerts, found by the database itself (docs/design/deliveries.md). */
export const ALERT_CHECKS = /* sql */ `
  -- Whole percents of a limit, 100 at most. Thresholds are whole percents, so usage that leaves these as they were has
  -- passed none. div() is exact where a division would be rounded. One expression, which Postgres inlines instead of
  -- calling it for every row.
  CREATE FUNCTION usage_percent(maximum jsonb, hundredfold numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN jsonb_typeof(maximum) = 'number' AND maximum <> '0'
      THEN least(100, div(hundredfold, maximum::numeric)) END
  $$;

  CREATE FUNCTION usage_totals_alerts_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id)
        SELECT period_id FROM new_rows JOIN billing_periods USING (period_id)
        WHERE usage_percent(description -> 'points_limit', points::numeric * 100) > 0
          OR usage_percent(description -> 'time_sec_limit', time_ms::numeric * 0.1) > 0
          OR usage_percent(description -> 'traffic_bytes_limit', traffic_bytes::numeric * 100) > 0;
      RETURN NULL;
    END
  $$;
  -- Groups instead of joining the rows before and after: a session plans such a join once, for the few rows of its first
  -- call, as a nested loop whose time grows with the square of the rows. A counter that stays the same has two equal
  -- values.
  CREATE FUNCTION usage_totals_alerts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id)
        SELECT period_id FROM (
          SELECT period_id, min(points) AS points, max(points) AS points_after, min(time_ms) AS time_ms,
            max(time_ms) AS time_ms_after, min(traffic_bytes) AS traffic_bytes,
            max(traffic_bytes) AS traffic_bytes_after
          FROM (SELECT period_id, points, time_ms, traffic_bytes FROM new_rows
                UNION ALL SELECT period_id, points, time_ms, traffic_bytes FROM old_rows) AS versions
          GROUP BY period_id
        ) AS changed JOIN billing_periods USING (period_id)
        WHERE points < points_after
            AND usage_percent(description -> 'points_limit', points::numeric * 100)
              <> usage_percent(description -> 'points_limit', points_after::numeric * 100)
          OR time_ms < time_ms_after
            AND usage_percent(description -> 'time_sec_limit', time_ms::numeric * 0.1)
              <> usage_percent(description -> 'time_sec_limit', time_ms_after::numeric * 0.1)
          OR traffic_bytes < traffic_bytes_after
            AND usage_percent(description -> 'traffic_bytes_limit', traffic_bytes::numeric * 100)
              <> usage_percent(description -> 'traffic_bytes_limit', traffic_bytes_after::numeric * 100);
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER usage_totals_alerts_added AFTER INSERT ON usage_totals
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_alerts_added();
  CREATE TRIGGER usage_totals_alerts_changed AFTER UPDATE ON usage_totals
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_alerts_changed();

  -- A new period has no usage, but its payer may have a team already.
  CREATE FUNCTION billing_periods_alerts_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id, due_at)
        SELECT period_id, greatest(started_at, clock_timestamp()) FROM new_rows
        WHERE coalesce(to_jsonb(team_slots_limit), description -> 'team_slots_limit') IS NOT NULL;
      RETURN NULL;
    END
  $$;
  CREATE FUNCTION billing_periods_alerts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id, due_at)
        SELECT period_id, greatest(new_rows.started_at, clock_timestamp())
        FROM new_rows JOIN old_rows USING (period_id)
        WHERE (new_rows.description::jsonb, new_rows.team_slots_limit, new_rows.started_at)
          IS DISTINCT FROM (old_rows.description::jsonb, old_rows.team_slots_limit, old_rows.started_at);
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER billing_periods_alerts_added AFTER INSERT ON billing_periods
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_alerts_added();
  CREATE TRIGGER billing_periods_alerts_changed AFTER UPDATE ON billing_periods
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION billing_periods_alerts_changed();

  -- A new member, invitation or manager may use up the team slots of the manager's present period.
  CREATE FUNCTION team_slots_taken() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id)
        SELECT period_id FROM team_members JOIN billing_periods USING (account_id)
        WHERE role = 'manager' AND team_id IN (SELECT team_id FROM new_rows)
          AND clock_timestamp() >= started_at AND clock_timestamp() < ended_at + interval '1 second';
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER team_members_alerts_added AFTER INSERT ON team_members
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION team_slots_taken();
  CREATE TRIGGER team_members_alerts_changed AFTER UPDATE ON team_members
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION team_slots_taken();
  CREATE TRIGGER team_invitations_alerts_added AFTER INSERT ON team_invitations
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION team_slots_taken();
`;
