import type { Knex } from 'knex';

/** Lanes are added while calls run (docs/adr/0184-lanes-grow.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE usage_lanes
      -- While payers move: how many there were.
      ADD COLUMN lanes_before smallint,
      -- Once gateways have been told: the last entry of before, by stream.
      ADD COLUMN moved_after jsonb,
      ADD CONSTRAINT usage_lanes_grow CHECK (lanes_before < lanes AND lanes % lanes_before = 0),
      ADD CONSTRAINT usage_lanes_told_while_growing CHECK (moved_after IS NULL OR lanes_before IS NOT NULL);
  `);
}

const UNWRITTEN = 'the version before writes neither column, nor another number';

export const exceptions = {
  'usage_lanes_grow is a rule, or an index, that usage_lanes did not have': UNWRITTEN,
  'usage_lanes_told_while_growing is a rule, or an index, that usage_lanes did not have': UNWRITTEN,
};
