import type { Knex } from 'knex';

/** Which replicas count usage, and what they have counted of each gateway. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- The replicas that share the usage streams; each keeps its own row alive.
    CREATE TABLE usage_readers (
      reader_id uuid PRIMARY KEY,
      alive_until timestamptz NOT NULL
    );

    -- The last batch of each gateway process that is counted, by stream: a batch that comes again under
    -- another entry id, because Redis had forgotten the first, is passed over.
    CREATE TABLE usage_gateway_sequences (
      stream text NOT NULL,
      gateway_id text NOT NULL,
      last_seq bigint NOT NULL,
      counted_at timestamptz NOT NULL,
      PRIMARY KEY (stream, gateway_id)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE usage_gateway_sequences, usage_readers');
}
