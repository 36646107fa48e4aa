import type { Knex } from 'knex';

/** Since when the hourly rows are whole. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- One row. Hours before kept_from may have been dropped: their sums prove nothing about totals any more.
    CREATE TABLE usage_hourly_kept (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      kept_from timestamptz NOT NULL
    );
    INSERT INTO usage_hourly_kept (kept_from) VALUES ('1970-01-01T00:00:00Z');
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('DROP TABLE usage_hourly_kept');
}
