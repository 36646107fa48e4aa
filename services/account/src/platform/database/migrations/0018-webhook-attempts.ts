import type { Knex } from 'knex';

/** Each attempt of a delivery, and which webhook a mail is about (ADR 0030). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- What webhook_deliveries has of the last attempt, kept of each. Gone with their delivery.
    CREATE TABLE webhook_delivery_attempts (
      delivery_id bigint NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
      attempt integer NOT NULL CHECK (attempt >= 1),
      attempted_at timestamptz NOT NULL,
      response_status integer,
      duration_ms integer CHECK (duration_ms >= 0),
      error text,
      next_attempt_at timestamptz,
      PRIMARY KEY (delivery_id, attempt)
    );

    -- Null for other kinds, and where the version before has asked for the mail. No reference: a mail about a
    -- webhook that is deleted meanwhile isn't sent.
    ALTER TABLE mail_outbox ADD COLUMN webhook_id bigint;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE mail_outbox DROP COLUMN webhook_id;
    DROP TABLE webhook_delivery_attempts;
  `);
}
