import type { Knex } from 'knex';

/** Operators find customers by the number of an invoice (docs/operators.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE INDEX invoices_number_idx ON invoices (number) WHERE number IS NOT NULL;
  `);
}

export const exceptions = {
  'invoices_number_idx is a rule, or an index, that invoices did not have':
    'It refuses nothing: it is an index that is not unique.',
};
