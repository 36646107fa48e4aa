import type { Knex } from 'knex';

/** What account remembers to notice lost usage, and what it has noticed (ADR 0041). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- What the gateway process had written to the stream when its batch counted_seq was counted, that batch included.
    -- An account of the version before moves last_seq on alone: then the two differ, and these say nothing.
    ALTER TABLE usage_gateway_sequences
      ADD COLUMN counted_seq bigint, ADD COLUMN batches bigint, ADD COLUMN requests bigint, ADD COLUMN points bigint;

    -- How far Redis was known to say that the stream is trimmed, when its position was stored. A table of its own: a
    -- reader holds a position while it waits for other tables that a migration has locked.
    CREATE TABLE usage_stream_trims (
      stream text PRIMARY KEY,
      trimmed text NOT NULL CHECK (trimmed ~ '^[0-9]{1,20}-[0-9]{1,20}$')
    );

    CREATE TABLE usage_gaps (
      gap_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      stream text NOT NULL,
      cause text NOT NULL CHECK (cause IN ('batches_missing', 'redis_set_back', 'postgres_set_back')),
      -- Missing batches: whose, and their numbers among its batches of the stream.
      gateway_id text,
      first_batch bigint,
      last_batch bigint,
      -- Entries after the first and up to the second may be missing; a null second is not known.
      after_entry text,
      last_entry text,
      -- Null where the extent is not known.
      batches bigint,
      requests bigint,
      points bigint,
      -- What was taken back from the live counters.
      recovered_points bigint,
      recovered_requests bigint,
      recovered_time_ms bigint,
      recovered_traffic_bytes bigint,
      -- The gap by which the whole stream was found set back, where that explains this one.
      within_gap_id bigint,
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    DROP TABLE usage_gaps, usage_stream_trims;
    ALTER TABLE usage_gateway_sequences
      DROP COLUMN counted_seq, DROP COLUMN batches, DROP COLUMN requests, DROP COLUMN points;
  `);
}
