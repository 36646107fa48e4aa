import type { Knex } from 'knex';

/**
 * Which periods are to be checked for alerts is found for each counted call. Postgres calls what it can't inline for each
 * row, at 25 µs each time: so only where the account has what these functions look for.
 */
const RAISED_LIMIT = /* sql */ `CROSS JOIN LATERAL (SELECT CASE
          WHEN EXISTS (SELECT FROM credit_grants WHERE credit_grants.account_id = period.account_id)
          THEN alert_points_limit(period) ELSE description -> 'points_limit' END AS points_limit OFFSET 0) AS raised`;
const WATCHES_CREDITS = /* sql */ `EXISTS (SELECT FROM credit_levels
            WHERE credit_levels.account_id = period.account_id AND low_at IS NULL)`;

export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE OR REPLACE FUNCTION usage_totals_alerts_added() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO usage_alert_checks (period_id)
          SELECT period_id FROM new_rows JOIN billing_periods AS period USING (period_id)
          ${RAISED_LIMIT}
          WHERE usage_percent(points_limit, points::numeric * 100) > 0
            OR usage_percent(description -> 'time_sec_limit', time_ms::numeric * 0.1) > 0
            OR usage_percent(description -> 'traffic_bytes_limit', traffic_bytes::numeric * 100) > 0
            OR ${WATCHES_CREDITS} AND may_be_low_on_credits(period, points);
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
          ${RAISED_LIMIT}
          WHERE points < points_after
              AND usage_percent(points_limit, points::numeric * 100)
                <> usage_percent(points_limit, points_after::numeric * 100)
            OR time_ms < time_ms_after
              AND usage_percent(description -> 'time_sec_limit', time_ms::numeric * 0.1)
                <> usage_percent(description -> 'time_sec_limit', time_ms_after::numeric * 0.1)
            OR traffic_bytes < traffic_bytes_after
              AND usage_percent(description -> 'traffic_bytes_limit', traffic_bytes::numeric * 100)
                <> usage_percent(description -> 'traffic_bytes_limit', traffic_bytes_after::numeric * 100)
            OR points < points_after AND ${WATCHES_CREDITS} AND may_be_low_on_credits(period, points_after);
        RETURN NULL;
      END
    $$;
  `);
}
