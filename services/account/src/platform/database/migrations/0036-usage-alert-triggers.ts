import type { Knex } from 'knex';

/**
 * Requests the checks of ADR 0030 without joining the rows before and after: a session plans that join once, for the
 * few rows of its first call, as a nested loop whose time grows with the square of the rows. Grouping takes one pass;
 * a counter that stays the same has two equal values.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
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
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    CREATE OR REPLACE FUNCTION usage_totals_alerts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO usage_alert_checks (period_id)
          SELECT period_id FROM new_rows JOIN old_rows USING (period_id) JOIN billing_periods USING (period_id)
          WHERE usage_percent(description -> 'points_limit', new_rows.points::numeric * 100)
              <> usage_percent(description -> 'points_limit', old_rows.points::numeric * 100)
            OR usage_percent(description -> 'time_sec_limit', new_rows.time_ms::numeric * 0.1)
              <> usage_percent(description -> 'time_sec_limit', old_rows.time_ms::numeric * 0.1)
            OR usage_percent(description -> 'traffic_bytes_limit', new_rows.traffic_bytes::numeric * 100)
              <> usage_percent(description -> 'traffic_bytes_limit', old_rows.traffic_bytes::numeric * 100);
        RETURN NULL;
      END
    $$;
  `);
}
