/** Who did what, when and from where. */
export const AUDIT_LOG = /* sql */ `
  -- No foreign keys: entries outlive what they are about.
  CREATE TABLE audit_log (
    audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 300),
    action text NOT NULL CHECK (char_length(action) BETWEEN 1 AND 100),
    application_id bigint,
    account_id bigint,
    address text NOT NULL,
    request_id text NOT NULL,
    -- Never a secret, nor anything from which one can be computed.
    details jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(details) = 'object')
  );
  -- Pages are read backwards by id.
  CREATE INDEX audit_log_application_id_idx ON audit_log (application_id, audit_id);
  CREATE INDEX audit_log_account_id_idx ON audit_log (account_id, audit_id);
  CREATE INDEX audit_log_actor_idx ON audit_log (actor, audit_id);
  CREATE INDEX audit_log_action_idx ON audit_log (action, audit_id);
  CREATE INDEX audit_log_at_idx ON audit_log (at);

  -- Append-only, except that a due deletion takes personal data out of its account's entries (docs/design/identity.md).
  CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND coalesce(current_setting('tollgate.erasing_account', true), '') <> '' THEN
        RETURN NULL;
      END IF;
      RAISE EXCEPTION 'audit_log is append-only';
    END
  $$;
  CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only();

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
`;
