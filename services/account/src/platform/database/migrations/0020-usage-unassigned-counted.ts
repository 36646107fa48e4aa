import type { Knex } from 'knex';

/** Usage that was set aside can be counted later, once (ADR 0008). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE usage_unassigned ADD COLUMN counted_at timestamptz, ADD COLUMN counted_period_id bigint;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    ALTER TABLE usage_unassigned DROP COLUMN counted_at, DROP COLUMN counted_period_id;
  `);
}
