import type { Knex } from 'knex';

/** Usage counters, and how far the usage streams are read. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- One row per period, so that reading the usage costs the same however much of it there is.
    CREATE TABLE usage_totals (
      period_id bigint PRIMARY KEY REFERENCES billing_periods,
      points bigint NOT NULL CHECK (points >= 0),
      requests bigint NOT NULL CHECK (requests >= 0),
      time_ms bigint NOT NULL CHECK (time_ms >= 0),
      traffic_bytes bigint NOT NULL CHECK (traffic_bytes >= 0)
    );

    -- The same usage by hour. The period is part of the key: who moves between teams within an hour has
    -- usage of two periods in it. No foreign keys: an account's own token belongs to no application.
    CREATE TABLE usage_hourly (
      hour timestamptz NOT NULL,
      period_id bigint NOT NULL,
      account_id bigint NOT NULL,
      application_id bigint NOT NULL,
      api_version text NOT NULL,
      points bigint NOT NULL CHECK (points >= 0),
      requests bigint NOT NULL CHECK (requests >= 0),
      time_ms bigint NOT NULL CHECK (time_ms >= 0),
      traffic_bytes bigint NOT NULL CHECK (traffic_bytes >= 0),
      PRIMARY KEY (period_id, hour, account_id, application_id, api_version)
    ) PARTITION BY RANGE (hour);
    CREATE INDEX usage_hourly_account_hour_idx ON usage_hourly (account_id, hour);

    -- The last entry of each usage stream that is counted; written in the transaction that counts it.
    CREATE TABLE usage_stream_positions (
      stream text PRIMARY KEY,
      position text NOT NULL CHECK (position ~ '^[0-9]{1,20}-[0-9]{1,20}$')
    );

    -- What could not be counted, kept as it came (text: it need not be JSON) for a person to look at.
    CREATE TABLE usage_unassigned (
      unassigned_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      stream text NOT NULL,
      entry_id text NOT NULL,
      -- Null where the whole entry could not be read.
      event_index integer,
      reason text NOT NULL,
      raw text NOT NULL,
      recorded_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE UNIQUE INDEX usage_unassigned_entry_key
      ON usage_unassigned (stream, entry_id, coalesce(event_index, -1));
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE usage_unassigned, usage_stream_positions, usage_hourly, usage_totals');
}
