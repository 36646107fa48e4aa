import type { Knex } from 'knex';

/** What auth is still to be told of changed OAuth clients. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- A row is written in the transaction that changes the application, and goes when auth has answered.
    CREATE TABLE revocation_outbox (
      outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      client_id uuid NOT NULL,
      application_id bigint NOT NULL REFERENCES applications,
      revocation_epoch integer NOT NULL CHECK (revocation_epoch >= 0),
      created_at timestamptz NOT NULL DEFAULT now(),
      attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      -- Whoever delivers a row moves this on first: a lease that ends by itself if they die.
      next_attempt_at timestamptz NOT NULL
    );
    CREATE INDEX revocation_outbox_next_attempt_at_idx ON revocation_outbox (next_attempt_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE revocation_outbox');
}
