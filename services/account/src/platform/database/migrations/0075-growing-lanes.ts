import type { Knex } from 'knex';

/** Lanes are added while calls run (docs/adr/0184-lanes-grow.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE usage_lanes
      -- While payers move: how many there were.
      ADD COLUMN lanes_before smallint CHECK (lanes_before < lanes AND lanes % lanes_before = 0),
      -- Once gateways have been told: the last entry of before, by stream.
      ADD COLUMN moved_after jsonb CHECK (moved_after IS NULL OR lanes_before IS NOT NULL);
  `);
}
