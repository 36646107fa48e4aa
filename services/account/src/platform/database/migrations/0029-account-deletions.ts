import type { Knex } from 'knex';

/** Accounts that their owners delete (ADR 0055). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- Both null unless the owner has requested the deletion. Cancelling clears them, and so does the erasure.
    ALTER TABLE accounts ADD COLUMN deletion_requested_at timestamptz;
    ALTER TABLE accounts ADD COLUMN deletion_due_at timestamptz;
    -- Since when the row holds no personal data.
    ALTER TABLE accounts ADD COLUMN erased_at timestamptz;
    CREATE INDEX accounts_deletion_due_at_idx ON accounts (deletion_due_at) WHERE deletion_due_at IS NOT NULL;

    -- A request that began before the deletion must not leave an account with working credentials.
    CREATE FUNCTION applications_of_open_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM 1 FROM accounts
          WHERE account_id = NEW.account_id AND deletion_due_at IS NULL AND erased_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'the account is being deleted'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'account_is_open';
        END IF;
        RETURN NEW;
      END
    $$;
    CREATE TRIGGER applications_added_to_open_accounts BEFORE INSERT ON applications
      FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION applications_of_open_accounts();
    CREATE TRIGGER applications_restored_in_open_accounts BEFORE UPDATE ON applications
      FOR EACH ROW WHEN (NEW.status = 'active' AND OLD.status <> 'active')
      EXECUTE FUNCTION applications_of_open_accounts();

    -- The log stays append-only, except that a due deletion takes personal data out of its account's entries.
    CREATE OR REPLACE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'UPDATE' AND coalesce(current_setting('tollgate.erasing_account', true), '') <> '' THEN
          RETURN NULL;
        END IF;
        RAISE EXCEPTION 'audit_log is append-only';
      END
    $$;
    CREATE FUNCTION audit_log_erases_personal_data() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (to_jsonb(NEW) - 'address' - 'details') IS DISTINCT FROM (to_jsonb(OLD) - 'address' - 'details')
          OR NOT EXISTS (SELECT 1 FROM accounts WHERE deletion_due_at <= now()
            AND account_id = CAST(current_setting('tollgate.erasing_account') AS bigint)
            AND (account_id = OLD.account_id OR OLD.actor = 'account:' || account_id)) THEN
          RAISE EXCEPTION 'audit_log is append-only';
        END IF;
        RETURN NEW;
      END
    $$;
    CREATE TRIGGER audit_log_erases_personal_data BEFORE UPDATE ON audit_log
      FOR EACH ROW EXECUTE FUNCTION audit_log_erases_personal_data();

    -- The renderers know the kinds (mail/mail-renderer.ts).
    ALTER TABLE mail_outbox DROP CONSTRAINT mail_outbox_kind_check;
    ALTER TABLE mail_outbox ADD CONSTRAINT mail_outbox_kind_check CHECK (kind ~ '^[a-z_]{1,60}$');
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DELETE FROM mail_outbox WHERE kind IN ('account_deletion_requested', 'account_deletion_cancelled',
      'account_deleted');
    DROP TRIGGER audit_log_erases_personal_data ON audit_log;
    DROP FUNCTION audit_log_erases_personal_data;
    CREATE OR REPLACE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'audit_log is append-only';
      END
    $$;
    DROP TRIGGER applications_added_to_open_accounts ON applications;
    DROP TRIGGER applications_restored_in_open_accounts ON applications;
    DROP FUNCTION applications_of_open_accounts;
    ALTER TABLE accounts DROP COLUMN erased_at, DROP COLUMN deletion_due_at, DROP COLUMN deletion_requested_at;
  `);
}

/** What expand-and-contract.test.ts finds here, and why it does no harm to the version before (ADR 0035). */
export const exceptions = {
  'accounts_deletion_due_at_idx is a rule, or an index, that accounts did not have':
    'not unique, and partial: empty until the first deletion is requested',
  'mail_outbox_kind_check is a rule, or an index, that mail_outbox did not have':
    'takes all that it took before; the table holds a few rows as a rule',
};
