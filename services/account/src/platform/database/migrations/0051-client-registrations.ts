import type { Knex } from 'knex';

/** Clients that register themselves, which belong to no account (docs/design/authorization.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE applications ALTER COLUMN account_id DROP NOT NULL;
    ALTER TABLE applications ADD CONSTRAINT applications_account_id_check
      CHECK (account_id IS NOT NULL OR (type = 'authorization' AND public_client)) NOT VALID;

    CREATE OR REPLACE FUNCTION applications_of_open_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.account_id IS NULL THEN
          RETURN NEW;
        END IF;
        PERFORM 1 FROM accounts
          WHERE account_id = NEW.account_id AND deletion_due_at IS NULL AND erased_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'the account is being deleted'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'account_is_open';
        END IF;
        RETURN NEW;
      END
    $$;

    CREATE TABLE client_registrations (
      application_id bigint PRIMARY KEY REFERENCES applications,
      -- Of a client-ID metadata document; null: registered by RFC 7591.
      document_url text UNIQUE CHECK (char_length(document_url) <= 255),
      -- When the document was last read.
      read_at timestamptz NOT NULL,
      -- Since when no person is connected; null: someone is. Housekeeping keeps it.
      unconnected_since timestamptz DEFAULT now()
    );
  `);
}

export const exceptions = {
  'applications_account_id_check is a rule, or an index, that applications did not have':
    'it takes the place of NOT NULL, and allows all that this allowed',
};
