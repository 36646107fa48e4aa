import type { Knex } from 'knex';

/** Operators who view as a customer (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE accounts ADD COLUMN allows_operator_views boolean NOT NULL DEFAULT true;

    -- A row is a view that goes on. It ends with its row, whatever deletes that.
    CREATE TABLE operator_views (
      view_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
      operator_id bigint NOT NULL REFERENCES operators ON DELETE CASCADE,
      session_id bigint NOT NULL REFERENCES operator_sessions ON DELETE CASCADE,
      account_id bigint NOT NULL REFERENCES accounts,
      -- Although the customer, or their team's manager, doesn't allow it.
      is_override boolean NOT NULL,
      -- Of the operator, as in the entry of its beginning.
      person json NOT NULL,
      address text NOT NULL,
      request_id text NOT NULL,
      began_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      UNIQUE (operator_id, account_id)
    );
    CREATE INDEX operator_views_session_id_idx ON operator_views (session_id);
    CREATE INDEX operator_views_account_id_idx ON operator_views (account_id);
    CREATE INDEX operator_views_expires_at_idx ON operator_views (expires_at);

    -- By a trigger, so that no way of ending one forgets the entry: time, sign-out, removal of the operator, erasure.
    CREATE FUNCTION record_end_of_operator_view() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO audit_log (at, actor, action, account_id, address, request_id, details)
      VALUES (least(now(), OLD.expires_at), 'operator:person/' || OLD.operator_id, 'customer_view_ended', OLD.account_id,
        OLD.address, OLD.request_id, jsonb_build_object('viewed_as', OLD.account_id, 'operator', OLD.person));
      RETURN NULL;
    END $$;
    CREATE TRIGGER operator_view_ended AFTER DELETE ON operator_views
      FOR EACH ROW EXECUTE FUNCTION record_end_of_operator_view();
  `);
}
