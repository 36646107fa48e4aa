import type { Knex } from 'knex';

/** Entries of the audit log for the operators' sink (docs/design/deliveries.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- One row while a sink is set up; without it nothing is kept for one.
    CREATE TABLE audit_stream (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      -- When a process last had the setting.
      seen_at timestamptz NOT NULL DEFAULT now(),
      leased_until timestamptz NOT NULL DEFAULT '-infinity',
      next_attempt_at timestamptz NOT NULL DEFAULT '-infinity',
      failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0)
    );

    CREATE TABLE audit_stream_outbox (
      audit_id bigint PRIMARY KEY,
      -- An entry is sent once all transactions that are older than its own have ended: ids are given before the commit.
      transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE FUNCTION audit_log_is_streamed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO audit_stream_outbox (audit_id) SELECT NEW.audit_id WHERE EXISTS (SELECT FROM audit_stream);
        RETURN NULL;
      END
    $$;
    CREATE TRIGGER audit_log_streamed AFTER INSERT ON audit_log
      FOR EACH ROW EXECUTE FUNCTION audit_log_is_streamed();
    CREATE TRIGGER audit_stream_outbox_announced AFTER INSERT ON audit_stream_outbox
      FOR EACH ROW EXECUTE FUNCTION announce_due_work();
  `);
}
