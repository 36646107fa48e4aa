import type { Knex } from 'knex';

const BUDGETS = /* sql */ `
  -- A null figure isn't limited, and 0 allows nothing. Of the owner's figure and the manager's, the lower one holds.
  CREATE TABLE application_budgets (
    application_id bigint PRIMARY KEY REFERENCES applications,
    points_per_period bigint CHECK (points_per_period BETWEEN 0 AND 9007199254740991),
    points_per_day bigint CHECK (points_per_day BETWEEN 0 AND 9007199254740991),
    -- Set by the manager of the owner's team, and gone with the membership.
    manager_points_per_period bigint CHECK (manager_points_per_period BETWEEN 0 AND 9007199254740991),
    manager_points_per_day bigint CHECK (manager_points_per_day BETWEEN 0 AND 9007199254740991),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT application_budgets_limit CHECK (num_nonnulls(points_per_period, points_per_day,
      manager_points_per_period, manager_points_per_day) > 0)
  );

  -- Set by the manager of the member's team.
  CREATE TABLE member_budgets (
    account_id bigint PRIMARY KEY REFERENCES team_members ON DELETE CASCADE,
    points_per_period bigint CHECK (points_per_period BETWEEN 0 AND 9007199254740991),
    points_per_day bigint CHECK (points_per_day BETWEEN 0 AND 9007199254740991),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT member_budgets_limit CHECK (num_nonnulls(points_per_period, points_per_day) > 0)
  );

  -- Thresholds of budgets that spending has passed, as told to an account. A changed budget forgets them.
  CREATE TABLE budget_alerts (
    budget_alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Who is told.
    account_id bigint NOT NULL REFERENCES accounts,
    -- Whose budget: an application's or a member's.
    application_id bigint REFERENCES applications,
    member_id bigint REFERENCES accounts,
    -- The window: a billing period or a UTC day.
    period_id bigint REFERENCES billing_periods ON DELETE CASCADE,
    day date,
    share integer NOT NULL CHECK (share BETWEEN 1 AND 100),
    used bigint NOT NULL CHECK (used >= 0),
    limit_value bigint NOT NULL CHECK (limit_value > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT budget_alerts_of_one CHECK (num_nonnulls(application_id, member_id) = 1
      AND num_nonnulls(period_id, day) = 1),
    CONSTRAINT budget_alerts_once UNIQUE NULLS NOT DISTINCT
      (application_id, member_id, period_id, day, share, account_id)
  );
  CREATE INDEX budget_alerts_member_id_idx ON budget_alerts (member_id);
  CREATE INDEX budget_alerts_period_id_idx ON budget_alerts (period_id);
  CREATE INDEX budget_alerts_account_id_idx ON budget_alerts (account_id, budget_alert_id);

  -- No reference: a mail about an alert that is forgotten isn't sent.
  ALTER TABLE mail_outbox ADD COLUMN budget_alert_id bigint;

  -- Whether the account pays for anything that has a budget.
  CREATE FUNCTION pays_for_budgets(payer bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
      SELECT FROM (
        SELECT payer AS account_id
        UNION ALL SELECT member.account_id FROM team_members AS manager JOIN team_members AS member USING (team_id)
          WHERE manager.account_id = payer AND manager.role = 'manager' AND member.role = 'member'
      ) AS spender
      WHERE EXISTS (SELECT FROM member_budgets WHERE member_budgets.account_id = spender.account_id)
        OR EXISTS (SELECT FROM applications JOIN application_budgets USING (application_id)
          WHERE applications.account_id = spender.account_id))
  $$;

  -- All that is counted within five seconds is checked together. Without budgets it costs two probes a statement.
  CREATE FUNCTION usage_totals_budgets_spent() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM member_budgets) OR EXISTS (SELECT FROM application_budgets) THEN
        INSERT INTO usage_alert_checks (period_id, due_at)
          SELECT period_id,
                 date_bin('5 seconds', clock_timestamp(), TIMESTAMPTZ '2000-01-01 00:00:00Z') + interval '5 seconds'
          FROM new_rows JOIN billing_periods USING (period_id)
          WHERE points > 0 AND pays_for_budgets(billing_periods.account_id);
      END IF;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER usage_totals_budgets_spent_first AFTER INSERT ON usage_totals
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_budgets_spent();
  CREATE TRIGGER usage_totals_budgets_spent AFTER UPDATE ON usage_totals
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION usage_totals_budgets_spent();

  -- A new budget may be spent already: the current periods of the payers of these accounts are to be checked.
  CREATE FUNCTION check_budgets_of(account_ids bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO usage_alert_checks (period_id)
      SELECT DISTINCT period_id FROM unnest(account_ids) AS spender (account_id)
        LEFT JOIN team_members AS member ON member.account_id = spender.account_id AND member.role = 'member'
        LEFT JOIN team_members AS manager ON manager.team_id = member.team_id AND manager.role = 'manager'
        JOIN billing_periods ON billing_periods.account_id = coalesce(manager.account_id, spender.account_id)
      WHERE clock_timestamp() >= started_at AND clock_timestamp() < ended_at + interval '1 second'
  $$;

  CREATE FUNCTION application_budgets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      owner_ids bigint[] := ARRAY(SELECT account_id FROM changed_rows JOIN applications USING (application_id));
    BEGIN
      PERFORM entitlements_changed(owner_ids);
      DELETE FROM budget_alerts USING changed_rows WHERE budget_alerts.application_id = changed_rows.application_id;
      IF TG_OP <> 'DELETE' THEN
        PERFORM check_budgets_of(owner_ids);
      END IF;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER application_budgets_added AFTER INSERT ON application_budgets
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION application_budgets_changed();
  CREATE TRIGGER application_budgets_changed AFTER UPDATE ON application_budgets
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION application_budgets_changed();
  CREATE TRIGGER application_budgets_removed AFTER DELETE ON application_budgets
    REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION application_budgets_changed();

  CREATE FUNCTION member_budgets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM entitlements_changed(ARRAY(SELECT account_id FROM changed_rows));
      DELETE FROM budget_alerts USING changed_rows WHERE member_id = changed_rows.account_id;
      IF TG_OP <> 'DELETE' THEN
        PERFORM check_budgets_of(ARRAY(SELECT account_id FROM changed_rows));
      END IF;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER member_budgets_added AFTER INSERT ON member_budgets
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION member_budgets_changed();
  CREATE TRIGGER member_budgets_changed AFTER UPDATE ON member_budgets
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION member_budgets_changed();
  CREATE TRIGGER member_budgets_removed AFTER DELETE ON member_budgets
    REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION member_budgets_changed();

  -- Who leaves a team, or becomes its manager, is no longer limited by a manager.
  CREATE FUNCTION end_managers_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM member_budgets WHERE account_id = OLD.account_id;
      -- The next statements then see what a change under way has left.
      PERFORM 1 FROM application_budgets JOIN applications USING (application_id)
        WHERE applications.account_id = OLD.account_id ORDER BY application_id FOR UPDATE OF application_budgets;
      DELETE FROM application_budgets USING applications
        WHERE applications.application_id = application_budgets.application_id
          AND applications.account_id = OLD.account_id
          AND num_nonnulls(points_per_period, points_per_day) = 0;
      UPDATE application_budgets
        SET manager_points_per_period = NULL, manager_points_per_day = NULL, updated_at = now()
        FROM applications
        WHERE applications.application_id = application_budgets.application_id
          AND applications.account_id = OLD.account_id
          AND num_nonnulls(manager_points_per_period, manager_points_per_day) > 0;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER team_members_budgets_ended_with_membership AFTER DELETE ON team_members
    FOR EACH ROW WHEN (OLD.role = 'member') EXECUTE FUNCTION end_managers_budgets();
  CREATE TRIGGER team_members_budgets_ended_with_change AFTER UPDATE ON team_members
    FOR EACH ROW WHEN (OLD.role = 'member' AND (NEW.role, NEW.team_id) <> ('member', OLD.team_id))
    EXECUTE FUNCTION end_managers_budgets();

  CREATE FUNCTION end_application_budget() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM application_budgets WHERE application_id = OLD.application_id;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER applications_budgets_ended AFTER UPDATE ON applications
    FOR EACH ROW WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted') EXECUTE FUNCTION end_application_budget();
`;

/** What applications and members may spend of their payer's points (docs/design/budgets.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(BUDGETS);
}
