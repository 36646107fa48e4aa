import type { Knex } from 'knex';

/** Whether applications of others may act for the members of a team (docs/design/authorization.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE teams ADD COLUMN allows_applications boolean NOT NULL DEFAULT true;
  `);
}
