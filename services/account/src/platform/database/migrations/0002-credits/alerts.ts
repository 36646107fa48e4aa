/** Alerts follow the limit that credits raise. */
export const ALERTS = /* sql */ `
  -- As usage_percent takes it: the plan's limit, with what credits add.
  CREATE FUNCTION alert_points_limit(period billing_periods) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE
      WHEN jsonb_typeof(period.description -> 'points_limit') = 'number'
        AND EXISTS (SELECT FROM credit_grants WHERE credit_grants.account_id = period.account_id)
      THEN to_jsonb(CAST(period.description -> 'points_limit' AS numeric) + period_credit_points(period.period_id, now()))
      ELSE period.description -> 'points_limit' END
  $$;

  CREATE OR REPLACE FUNCTION usage_totals_alerts_added() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id)
        SELECT period_id FROM new_rows JOIN billing_periods AS period USING (period_id)
        WHERE usage_percent(alert_points_limit(period), points::numeric * 100) > 0
          OR usage_percent(description -> 'time_sec_limit', time_ms::numeric * 0.1) > 0
          OR usage_percent(description -> 'traffic_bytes_limit', traffic_bytes::numeric * 100) > 0
          OR may_be_low_on_credits(period, points);
      RETURN NULL;
    END
  $$;
  CREATE OR REPLACE FUNCTION usage_totals_alerts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id)
        SELECT period_id FROM (
          SELECT period_id, min(points) AS points, max(points) AS points_after, min(time_ms) AS time_ms,
            max(time_ms) AS time_ms_after, min(traffic_bytes) AS traffic_bytes,
            max(traffic_bytes) AS traffic_bytes_after
          FROM (SELECT period_id, points, time_ms, traffic_bytes FROM new_rows
                UNION ALL SELECT period_id, points, time_ms, traffic_bytes FROM old_rows) AS versions
          GROUP BY period_id
        ) AS changed JOIN billing_periods AS period USING (period_id)
        CROSS JOIN LATERAL (SELECT alert_points_limit(period) AS points_limit OFFSET 0) AS raised
        WHERE points < points_after
            AND usage_percent(points_limit, points::numeric * 100)
              <> usage_percent(points_limit, points_after::numeric * 100)
          OR time_ms < time_ms_after
            AND usage_percent(description -> 'time_sec_limit', time_ms::numeric * 0.1)
              <> usage_percent(description -> 'time_sec_limit', time_ms_after::numeric * 0.1)
          OR traffic_bytes < traffic_bytes_after
            AND usage_percent(description -> 'traffic_bytes_limit', traffic_bytes::numeric * 100)
              <> usage_percent(description -> 'traffic_bytes_limit', traffic_bytes_after::numeric * 100)
          OR points < points_after AND may_be_low_on_credits(period, points_after);
      RETURN NULL;
    END
  $$;

  -- A grant that starts or ends changes the limit of the payer's open periods.
  CREATE FUNCTION credit_cuts_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO usage_alert_checks (period_id)
        SELECT period_id FROM new_rows JOIN period_closings USING (account_id) JOIN billing_periods USING (period_id)
        WHERE resolved_at IS NOT NULL AND started_at <= clock_timestamp();
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER credit_cuts_alerts_changed AFTER UPDATE ON credit_cuts
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION credit_cuts_alerts();
`;
