import type { Knex } from 'knex';

/** Each attempt of a delivery (ADR 0030). */
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
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE webhook_delivery_attempts');
}
