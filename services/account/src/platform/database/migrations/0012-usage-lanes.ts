import type { Knex } from 'knex';

/** How many streams take usage (docs/design/settlement.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    -- One row, from the first start on.
    CREATE TABLE usage_lanes (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      lanes smallint NOT NULL CHECK (lanes BETWEEN 1 AND 64)
    );
    -- Versions without lanes had 64.
    INSERT INTO usage_lanes (lanes) SELECT 64 WHERE EXISTS (SELECT FROM usage_stream_positions);
  `);
}
