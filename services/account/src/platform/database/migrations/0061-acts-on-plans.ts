import type { Knex } from 'knex';

/** What waits for a second operator may be about plans (docs/adr/0171-limits-need-two.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE pending_acts ALTER COLUMN account_id DROP NOT NULL;
  `);
}
