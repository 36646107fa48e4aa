import type { Knex } from 'knex';

/** What customers see of public plans (ADR 0053). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE plans
      -- Null for a plan that is not in the catalogue.
      ADD COLUMN public_position integer,
      -- An interval without a price text is not offered.
      ADD COLUMN price_month text,
      ADD COLUMN price_year text,
      ADD COLUMN included text[] NOT NULL DEFAULT '{}',
      ADD COLUMN team_slot_price text,
      -- Null for a plan without additional team slots.
      ADD COLUMN team_slots_max integer,
      ADD CONSTRAINT plans_catalogue_entry CHECK (
        public_position >= 0 AND team_slots_max >= 0
        AND char_length(price_month) BETWEEN 1 AND 200
        AND char_length(price_year) BETWEEN 1 AND 200
        AND char_length(team_slot_price) BETWEEN 1 AND 200
        AND (public_position IS NULL OR price_month IS NOT NULL OR price_year IS NOT NULL)
      );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE plans DROP COLUMN public_position, DROP COLUMN price_month, DROP COLUMN price_year,
      DROP COLUMN included, DROP COLUMN team_slot_price, DROP COLUMN team_slots_max;
  `);
}

export const exceptions = {
  'plans_catalogue_entry is a rule, or an index, that plans did not have':
    'it binds only the new columns, which the previous version never writes',
};
