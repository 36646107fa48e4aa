import type { Knex } from 'knex';

/** What applications and members may spend of their payer's points (docs/design/budgets.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
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

    CREATE FUNCTION application_budgets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM entitlements_changed(ARRAY(SELECT account_id FROM changed_rows JOIN applications USING (application_id)));
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
  `);
}
