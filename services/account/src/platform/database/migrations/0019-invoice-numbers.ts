import type { Knex } from 'knex';

/** Operators find customers by the number of an invoice (docs/operators.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE INDEX invoices_number_idx ON invoices (number) WHERE number IS NOT NULL;
  `);
}
