import type { Knex } from 'knex';

/** Movements are dated by when they are written, so that a check can replay them with cuts and closings (docs/design/credits.md). */
export async function up(knex: Knex): Promise<void> {
  // now() is when the transaction began, which may be before another one's that has locked the account first.
  await knex.schema.raw('ALTER TABLE credit_movements ALTER COLUMN created_at SET DEFAULT clock_timestamp()');
}
