import type { Knex } from 'knex';

/** Webhooks that answer quickly don't wait for those that haven't shown it, or no longer do (ADR 0081). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(`
    -- From then on it counts as quick; null until its first quick success.
    ALTER TABLE webhooks ADD COLUMN quick_from timestamptz;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('ALTER TABLE webhooks DROP COLUMN quick_from');
}
