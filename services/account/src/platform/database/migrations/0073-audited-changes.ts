import type { Knex } from 'knex';

/**
 * What an entry's change was before and after (docs/adr/0163-before-and-after.md). The erasure of an account takes them
 * away with the details, also the erasure of a version that doesn't know them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE audit_log ADD COLUMN before jsonb, ADD COLUMN after jsonb;

    CREATE OR REPLACE FUNCTION audit_log_erases_personal_data() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (to_jsonb(NEW) - '{address,details,before,after}'::text[])
            IS DISTINCT FROM (to_jsonb(OLD) - '{address,details,before,after}'::text[])
          OR NOT EXISTS (SELECT 1 FROM accounts WHERE deletion_due_at <= now()
            AND account_id = CAST(current_setting('tollgate.erasing_account') AS bigint)
            AND (account_id = OLD.account_id OR OLD.actor = 'account:' || account_id)) THEN
          RAISE EXCEPTION 'audit_log is append-only';
        END IF;
        IF NEW.action <> 'account_deletion_carried_out' THEN
          NEW.before := NULL;
          NEW.after := NULL;
        END IF;
        RETURN NEW;
      END
    $$;
  `);
}
