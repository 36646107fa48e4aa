import type { Knex } from 'knex';

/** Refused and failed data calls (ADR 0045). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- No foreign keys: records outlive what they tell of, and some name what never was.
    CREATE TABLE refused_calls (
      refused_call_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      recorded_at timestamptz NOT NULL DEFAULT now(),
      request_id text NOT NULL,
      seq bigint NOT NULL,
      at timestamptz NOT NULL,
      kind text NOT NULL,
      code text NOT NULL,
      status integer,
      account_id bigint,
      payer_id bigint,
      application_id bigint,
      client_id uuid,
      address text NOT NULL,
      api_version text NOT NULL,
      duration_ms bigint,
      detail text,
      unrecorded_before bigint NOT NULL,
      -- The gateways may send a record twice.
      UNIQUE (request_id, seq)
    );
    CREATE INDEX refused_calls_account_id_idx ON refused_calls (account_id, refused_call_id);
    CREATE INDEX refused_calls_recorded_at_idx ON refused_calls (recorded_at);

    -- How many came of an account on a day, UTC; of account 0 those that name none. It bounds what is kept of them.
    CREATE TABLE refused_call_days (
      day date NOT NULL,
      account_id bigint NOT NULL,
      refusals bigint NOT NULL,
      PRIMARY KEY (account_id, day)
    );
    CREATE INDEX refused_call_days_day_idx ON refused_call_days (day);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE refused_call_days; DROP TABLE refused_calls');
}
