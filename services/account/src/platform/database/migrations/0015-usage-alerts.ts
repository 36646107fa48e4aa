import type { Knex } from 'knex';

const TABLES = `
  -- Who has no row here has the defaults (alerts/rules.ts).
  CREATE TABLE alert_settings (
    account_id bigint PRIMARY KEY REFERENCES accounts,
    mail boolean NOT NULL,
    -- Whole percents, for every limit that limit_shares does not name.
    shares integer[] NOT NULL CHECK (cardinality(shares) <= 10),
    limit_shares jsonb NOT NULL CHECK (jsonb_typeof(limit_shares) = 'object'),
    changed_at timestamptz NOT NULL DEFAULT now()
  );

  -- Shares that a period's usage has passed. The key is what makes an alert one of its kind.
  CREATE TABLE usage_alerts (
    alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES accounts,
    period_id bigint NOT NULL REFERENCES billing_periods ON DELETE CASCADE,
    limit_name text NOT NULL CHECK (limit_name IN ('points_limit', 'time_sec_limit', 'traffic_bytes_limit',
      'team_slots_limit')),
    share integer NOT NULL CHECK (share BETWEEN 1 AND 100),
    -- When it was noticed, in the limit's unit.
    used bigint NOT NULL CHECK (used >= 0),
    limit_value bigint NOT NULL CHECK (limit_value > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (period_id, limit_name, share)
  );

  -- Periods to be looked at. Rows are only added and taken, never shared: a row that was there already could be
  -- taken by who does not see yet what it would have to stand for.
  CREATE TABLE usage_alert_checks (
    check_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    period_id bigint NOT NULL,
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX usage_alert_checks_due_at_idx ON usage_alert_checks (due_at);
  CREATE INDEX usage_alert_checks_period_id_idx ON usage_alert_checks (period_id);

  ALTER TABLE mail_outbox ADD COLUMN alert_id bigint REFERENCES usage_alerts ON DELETE CASCADE;
  CREATE INDEX mail_outbox_alert_id_idx ON mail_outbox (alert_id);
  ALTER TABLE mail_outbox DROP CONSTRAINT mail_outbox_kind_check;
  ALTER TABLE mail_outbox ADD CONSTRAINT mail_outbox_kind_check CHECK (kind IN ('sign_up', 'sign_up_again',
    'password_reset', 'email_change', 'password_changed', 'email_changed', 'team_invitation', 'team_handed_over',
    'usage_alert'));
`;

const ON_USAGE = `
  -- Whole percents of a limit, 100 at most. Shares are whole percents, so that usage which leaves these as they
  -- were has passed none. div() is exact where a division would be rounded. One expression, which Postgres puts into the statement instead of calling it for every row.
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
  CREATE FUNCTION usage_totals_alerts_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
  CREATE TRIGGER usage_totals_alerts_added AFTER INSERT ON usage_totals
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_alerts_added();
  CREATE TRIGGER usage_totals_alerts_changed AFTER UPDATE ON usage_totals
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_alerts_changed();
`;

const ON_PERIODS = `
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
`;

const ON_TEAMS = `
  -- Who joins, is invited or begins to manage may fill the slots of the manager's present period.
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

/** Alerts at shares of limits, and which periods are to be looked at, as the database itself finds out (ADR 0030). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw([TABLES, ON_USAGE, ON_PERIODS, ON_TEAMS].join('\n'));
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP FUNCTION usage_totals_alerts_added, usage_totals_alerts_changed, billing_periods_alerts_added,
      billing_periods_alerts_changed, team_slots_taken CASCADE;
    DROP FUNCTION usage_percent;
    DELETE FROM mail_outbox WHERE kind = 'usage_alert';
    ALTER TABLE mail_outbox DROP CONSTRAINT mail_outbox_kind_check;
    ALTER TABLE mail_outbox ADD CONSTRAINT mail_outbox_kind_check CHECK (kind IN ('sign_up', 'sign_up_again',
      'password_reset', 'email_change', 'password_changed', 'email_changed', 'team_invitation', 'team_handed_over'));
    ALTER TABLE mail_outbox DROP COLUMN alert_id;
    DROP TABLE usage_alert_checks, usage_alerts, alert_settings;
  `);
}

const SHORT =
  'the table holds mails that are not sent yet, a few rows as a rule, so it is looked through in no time';

/** What expand-and-contract.test.ts finds here, and why it does no harm to the version before (ADR 0035). */
export const exceptions = {
  'mail_outbox_alert_id_fkey is a rule, or an index, that mail_outbox did not have': `of a new column, null in what the version before writes; ${SHORT}`,
  'mail_outbox_alert_id_idx is a rule, or an index, that mail_outbox did not have': `not unique; ${SHORT}`,
  'mail_outbox_kind_check is a rule, or an index, that mail_outbox did not have': `takes all that it took before, and one kind more; ${SHORT}`,
};
