import type { Knex } from 'knex';

/** Who did what to applications, when and from where. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- No foreign keys: the log outlives what it tells of.
    CREATE TABLE audit_log (
      audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(),
      actor text NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 300),
      action text NOT NULL CHECK (char_length(action) BETWEEN 1 AND 100),
      application_id bigint,
      account_id bigint,
      address text NOT NULL,
      request_id text NOT NULL,
      -- Never a secret, nor what could be turned back into one.
      details jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object')
    );
    CREATE INDEX audit_log_application_id_idx ON audit_log (application_id, at);
    CREATE INDEX audit_log_account_id_idx ON audit_log (account_id, at);

    CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'audit_log is append-only';
      END
    $$;
    CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE audit_log; DROP FUNCTION audit_log_is_append_only');
}
